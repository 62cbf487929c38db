// The chooser above the leaderboard: a use and limits in the address, three cards and a sentence.
import { boardToChooseFrom, choiceOf, limitsOf, titledCards, typedNumber } from "./choose.js";
import { html, inputOf, isChecked } from "./dom.js";
import { address, pushQuery, replaceQuery } from "./route.js";
import { choosers, overview, results, useLoaded } from "./store.js";
import { Choice } from "./table.js";

/** @import { ChoiceCandidate, ChooserInfo } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */

/** @param {{ label: string, name: string, value: string | undefined }} props */
function Limit({ label, name, value }) {
  const wrong = Boolean(value) && typedNumber(value) === undefined;
  return html`<label class="field limit"
    ><span>${label}</span>
    <input
      type="text"
      inputmode="decimal"
      placeholder="any"
      autocomplete="off"
      value=${value ?? ""}
      aria-invalid=${wrong}
      onInput=${(/** @type {Event} */ event) => replaceQuery({ [name]: inputOf(event) })}
    />
    ${wrong && html`<small role="alert">not a number</small>`}
  </label>`;
}

/** @param {{ title: string, titles: string[], candidate: ChoiceCandidate | undefined }} props */
function Card({ title, titles, candidate }) {
  const row = candidate && results.find(({ key }) => key === candidate.key);
  return html`<section aria-label=${title}>
    <h2>${title}</h2>
    ${row ? html`<a href=${address("scenario", [row.id])}>${row.label}</a>` : html`<p>unknown</p>`}
    ${
      candidate &&
      html`<dl>
        ${titles.map((name, place) => html`<div><dt>${name}</dt><dd>${candidate.facts[place]}</dd></div>`)}
      </dl>`
    }
  </section>`;
}

/** @param {{ found: ChooserInfo[], query: Query }} props */
function Chosen({ found, query }) {
  const chooser = boardToChooseFrom(found, query);
  if (!chooser) return null;
  const known = chooser.shelves.find(({ use }) => use === query.use);
  const shelf = known ?? chooser.shelves[0];
  const isUntold = Boolean(query.use) && !known;
  const nothing = { cards: [], words: "", above: 0 };
  const { cards, words, above } = isUntold ? nothing : choiceOf(shelf, limitsOf(query));
  const change = (/** @type {Event} */ event) => pushQuery({ local: isChecked(event) ? "1" : "" });
  return html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Choice}
        label="I need"
        name="use"
        value=${shelf.use}
        options=${chooser.shelves.map(({ use }) => use)}
        all=${false}
      />
      <${Limit} label="memory limit (GB)" name="gb" value=${query.gb} />
      <${Limit} label="time limit (s per case)" name="s" value=${query.s} />
      <label class="check"><input type="checkbox" checked=${query.local === "1"} onChange=${change} />
        without services</label>
      ${
        found.length > 1 &&
        html`<${Choice}
          label="from"
          name="board"
          value=${chooser.about}
          options=${found.map(({ about }) => about)}
          all=${false}
        />`
      }
    </form>
    ${
      cards.length > 0 &&
      html`<div class="cards">
        ${titledCards(chooser, cards, above).map(
          ({ title, card }) => html`<${Card} title=${title} titles=${chooser.titles} candidate=${card} />`,
        )}
      </div>`
    }
    ${
      isUntold &&
      html`<p role="status">Nothing is recommended. These results have no scores for ${query.use} alone.</p>`
    }
    <p class="legend">${words}</p>`;
}

// If the browser cannot unpack the choosers, the leaderboard is shown without them.
const choosersOrNone = () => choosers().catch(() => /** @type {ChooserInfo[]} */ ([]));

/** @param {{ query: Query }} props */
function Chooser({ query }) {
  const found = useLoaded(choosersOrNone, []);
  if (!overview.has_choosers) return null;
  // The section keeps its room while this unpacks, so that the leaderboard below hardly moves.
  return html`<section class=${found ? "chooser" : "chooser waiting"} aria-label="Which result to choose">
    ${found && html`<h2>Which model fits?</h2><${Chosen} found=${found} query=${query} />`}
  </section>`;
}

export { Chooser };
