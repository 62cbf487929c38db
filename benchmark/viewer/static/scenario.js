// One result: what it is good at, why its answers were rejected, what it ran on, and all its cases.
import { Flags } from "./board.js";
import { CASE_SORT, caseColumns, chosenCases, reasonsOf, wordingHint } from "./cases.js";
import { Heading, html, useEffect } from "./dom.js";
import { figureText, fixed, interval, plural } from "./format.js";
import { Picture } from "./pictures.js";
import { address } from "./route.js";
import { chartPack, detailOf, figureOf, overview, resultOf, useLoaded } from "./store.js";
import { Choice, Filter, Table } from "./table.js";
import { Copied } from "./take.js";

/** @import { PageBoardRow, Tile } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Case, Loaded } from "./store.js" */

const ToStart = () =>
  html`<a href=${address("board")}>To the ${overview.results.length ? "leaderboard" : "methods"}</a>`;

/** @param {{ id: string }} props */
function Unknown({ id }) {
  return html`<${Heading} title="Not in this page" />
    <p>${id} is none of the results, cases or probes of this page. <${ToStart} /></p>`;
}

/** @param {{ row: PageBoardRow, tile: Tile }} props */
function TileView({ row, tile }) {
  const figure = figureOf(tile.figure);
  const below = (tile.below ?? []).map(figureOf);
  const parts = [
    interval(tile.interval, (end) => figureText(figure, end)),
    ...below.map((other) => `${other.title} ${figureText(other, row.figures[other.key])}`),
    tile.note,
  ];
  return html`<div title=${figure.hint}><dt>${figure.title}</dt>
    <dd><b>${figureText(figure, row.figures[figure.key])}</b><small>${parts.filter(Boolean).join(", ")}</small></dd>
  </div>`;
}

/** @param {{ detail: Loaded }} props */
function Profile({ detail }) {
  const bar = (/** @type {number} */ share) =>
    html`<svg class="bar" viewBox="0 0 1 12" preserveAspectRatio="none" aria-hidden="true"
      ><rect class="track" width="1" height="12" /><rect class="fill" y="2" height="8" width=${share} /></svg>`;
  return html`<${Copied}><table class="plain">
    <caption>Profile: means over all cases, 0 to 1</caption>
    <thead><tr>
      <th scope="col">component</th><th scope="col" class="number">recovered</th><th scope="col" class="number">raw</th>
      <td class="wide"></td>
    </tr></thead>
    <tbody>
      ${detail.profile.map(
        (row) => html`<tr>
          <th scope="row" title=${row.hint}>${row.title}</th>
          <td class="number">${fixed(row.recovered, 3)}</td>
          <td class="number">${fixed(row.raw, 3)}</td>
          <td class="wide">${row.is_component && bar(row.recovered)}</td>
        </tr>`,
      )}
    </tbody>
  </table><//>`;
}

// The cases are below what fits a screen.
const showCases = () => requestAnimationFrame(() => document.getElementById("cases")?.scrollIntoView());

/** @param {{ detail: Loaded, row: PageBoardRow, query: Query }} props */
function Reasons({ detail, row, query }) {
  const link = (/** @type {string} */ reason) => address("scenario", [row.id], { ...query, why: reason, verdict: "" });
  const badly = detail.reasons.some((one) => one.of_generation);
  return html`<${Copied}><table class="plain">
    <caption>Why answers were rejected${badly && ", and how generation ended badly"}</caption>
    <thead><tr><th scope="col">reason</th><th scope="col" class="number">cases</th></tr></thead>
    <tbody>
      ${detail.reasons.map(
        (one) => html`<tr>
          <th scope="row"><a href=${link(one.reason)} onClick=${showCases}>${one.reason}</a>${
            one.of_generation && html` <span class="flag">generation</span>`
          }</th>
          <td class="number">${one.count}</td>
        </tr>`,
      )}
      ${!detail.reasons.length && html`<tr><td colspan="2">none</td></tr>`}
    </tbody>
  </table><//>`;
}

/** @param {{ detail: Loaded }} props */
function Identity({ detail }) {
  return html`<details>
    <summary>Identity and environment</summary>
    ${detail.identity.map(
      ({ heading, lines }) => html`<h3>${heading}</h3>
        <dl>${lines.map(({ label, content }) => html`<div><dt>${label}</dt><dd>${content}</dd></div>`)}</dl>`,
    )}
    ${!detail.has_run && html`<p class="empty">A file of the published layout says nothing about its run.</p>`}
  </details>`;
}

/** @param {{ row: PageBoardRow }} props */
function Scores({ row }) {
  const charts = useLoaded(chartPack, []);
  if (!charts || !row.answered) return null;
  const bins = charts.rows.bins.filter((one) => one.key === row.key);
  const tails = charts.rows.tails.filter((one) => one.key === row.key);
  return html`<${Picture} name="histogram" title="Case scores" data=${{ bins, tails }} />`;
}

/** @param {{ detail: Loaded, id: string, query: Query }} props */
function Cases({ detail, id, query }) {
  useEffect(() => {
    // Who comes for some of the cases sees them.
    if (query.why) showCases();
  }, []);
  const shown = chosenCases(detail, id, query);
  const columns = caseColumns(id, query).filter(
    (column) => column.kind !== "" || detail.cases.some((one) => column.value(one) !== ""),
  );
  /** @param {(one: Case) => string} value */
  const distinct = (value) => [...new Set(detail.cases.map(value).filter(Boolean))].sort();
  const all = plural(detail.cases.length, "case");
  const reasons = [...new Set(detail.cases.flatMap((one) => reasonsOf(one)))].sort();
  return html`<h2 id="cases">Cases</h2>
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
      <${Choice} label="Intent" name="intent" value=${query.intent} options=${distinct((one) => one.intent)} />
      <${Choice} label="Verdict" name="verdict" value=${query.verdict} options=${distinct((one) => one.verdict)} />
      <${Choice} label="Why" name="why" value=${query.why} options=${reasons} />
    </form>
    <p role="status">${shown.length === detail.cases.length ? all : `${shown.length} of ${all}`}</p>
    <${Table}
      label="Cases"
      columns=${columns}
      rows=${shown}
      sort=${query.sort ?? CASE_SORT}
      keyOf=${(/** @type {Case} */ one) => one.case_id}
    />
    ${shown.some((one) => one.by_wording) && html`<p class="legend">~ ${wordingHint}.</p>`}`;
}

/** @param {{ id: string, query: Query }} props */
function Scenario({ id, query }) {
  const row = resultOf(id);
  const detail = useLoaded(async () => row && detailOf(row), [id]);
  if (!row) return html`<${Unknown} id=${id} />`;
  const about = [row.model, row.track, row.phase && `phase ${row.phase}`, row.timestamp];
  const notes = [...row.notes, row.wording_note].filter(Boolean);
  const head = html`<${Heading} title=${row.label} /><p class="flags"><${Flags} row=${row} /></p>
    <p class="lead">${about.filter(Boolean).join(" · ")}</p>
    ${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
  const ladder = overview.ladders?.find(({ rungs }) => rungs.some(({ key }) => key === row.key));
  if (!detail) return html`${head}<p role="status">Unpacking…</p>`;
  return html`${head}
    <dl class="tiles">${detail.tiles.map((tile) => html`<${TileView} row=${row} tile=${tile} />`)}</dl>
    <p class="actions"><a class="button" href=${address("compare", [row.id])}>Compare with…</a>${
      ladder &&
      html` <a class="button" href=${address("quantizations", [], { model: ladder.model })}>Other quantizations</a>`
    }</p>
    <div class="columns">
      <${Profile} detail=${detail} />
      <${Reasons} detail=${detail} row=${row} query=${query} />
    </div>
    <${Scores} row=${row} />
    <${Identity} detail=${detail} />
    <${Cases} detail=${detail} id=${row.id} query=${query} />`;
}

export { Scenario, ToStart, Unknown };
