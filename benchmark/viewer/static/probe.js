// One probe: what is asked, what says the answer, and what each method left of it at each cut.
import { Steps } from "./case.js";
import { saidAlone } from "./difference.js";
import { Heading, html } from "./dom.js";
import { fixed, plural } from "./format.js";
import { methodOf, placesOf, runOf, SCORE_SIGNS, Shade, scoreText, sharedOf } from "./probing.js";
import { address } from "./route.js";
import { Unknown } from "./scenario.js";
import { chosenProbes } from "./session.js";
import { probePack, sessionTexts, useLoaded } from "./store.js";
import { sortRows, Table, toWord } from "./table.js";
import { Marked, visible } from "./text.js";

/**
 * @import {
 *   AskedAtCut, ContextVerdict, ProbeAnswer, ProbeOfSession, ProbePack, ProbeTexts, RightFrom, SessionOfProbes,
 *   SessionTexts, VerdictLine,
 * } from "./page_records.d.ts"
 */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */
/**
 * A probe with its texts, as the views of one probe and of two methods show it.
 * @typedef {{
 *   pack: ProbePack, session: SessionOfProbes, probe: ProbeOfSession, texts: SessionTexts, told: ProbeTexts,
 * }} Shown
 */

/** How a statement is marked, in lists and in texts, by what is said of it. */
/** @type {Record<string, string>} */
const KINDS = {
  kept: "says",
  said: "says",
  "in other words": "in_part",
  "in part": "in_part",
  lost: "unsaid",
  "not said": "unsaid",
};
// What a score opens stands below, once the address has changed.
const SHOWN_MS = 50;
/** @type {Record<string, string>} */
const MARKS = { says: "kept", in_part: "reworded" };

/**
 * A run with one of its sessions and the texts of that.
 * @param {string} name of the session
 * @param {Query} query
 */
async function sessionOf(name, query) {
  const run = runOf(query);
  const pack = await probePack(run);
  const place = pack.sessions.findIndex((one) => one.name === name);
  return { pack, session: pack.sessions[place], texts: place < 0 ? undefined : await sessionTexts(run, place) };
}

/**
 * The right answer that holds at a cut.
 * @param {ProbeTexts} told
 * @param {number} at
 */
const rightAt = ({ gold }, at) => gold.filter((right) => right.at <= at).at(-1) ?? gold[0];

/**
 * What a method left at a cut, as lines; null where it has no summary.
 * @param {SessionTexts} texts
 * @param {number} method
 * @param {number} at
 */
function contextLines({ lines, texts, contexts }, method, at) {
  const stretches = texts[contexts[method]?.[at]];
  if (!stretches) return null;
  /** @type {string[]} */
  const found = [];
  for (let place = 0; place < stretches.length; place += 2) {
    found.push(...lines.slice(stretches[place], stretches[place] + stretches[place + 1]));
  }
  return found;
}

/**
 * The lines of a context that say a statement, or contradict one, as spans of its text.
 * @param {string[]} lines
 * @param {ContextVerdict} verdict
 * @param {RightFrom} right
 */
function placesIn(lines, { statements, wrong = [] }, right) {
  /** @type {Map<number, { kind: string, title: string }>} */
  const found = new Map();
  const add = (/** @type {number} */ line, /** @type {string} */ kind, /** @type {string} */ says) => {
    if (line < 1 || line > lines.length) return;
    const before = found.get(line);
    found.set(line, {
      kind: before ? `${before.kind} ${kind}` : kind,
      title: before ? `${before.title}; ${says}` : says,
    });
  };
  for (const { line = 0, told = "", index = -1 } of statements) {
    const kind = MARKS[KINDS[told]];
    if (kind) add(line, kind, `${told}: ${right.statements[index]?.says}`);
  }
  for (const { line = 0, says = "" } of wrong) add(line, "against", `contradicts: ${says}`);
  let start = 0;
  return lines.flatMap((text, place) => {
    const begin = start;
    start += text.length + 1;
    const mark = found.get(place + 1);
    return mark ? [{ start: begin, end: begin + text.length, line: place + 1, ...mark }] : [];
  });
}

/** @param {{ right: RightFrom, from: number, many: boolean }} props */
function Right({ right, from, many }) {
  return html`${many && html`<h3>${from ? `From cut ${from + 1} on` : "At first"}</h3>`}
    <p class="instruction">${visible(right.text)}</p>
    <ul class="statements">${right.statements.map(
      ({ says, weight }) => html`<li>${visible(says)} <span class="flag">${weight}</span></li>`,
    )}</ul>`;
}

/** @param {Shown} props */
function Asked({ probe, texts, told }) {
  return html`<div class="answers">
    <section class="card"><h2>Right answer</h2>
      ${told.gold.map((right) => html`<${Right} right=${right} from=${right.at} many=${told.gold.length > 1} />`)}
      ${
        told.must_not.length > 0 &&
        html`<h3>Wrong</h3><ul class="statements">${told.must_not.map((says) => html`<li>${visible(says)}</li>`)}</ul>`
      }
      <p class="legend">Without the vital statements, an answer is not right; okay ones complete it.</p>
    </section>
    <section class="card"><h2>Evidence</h2>
      ${probe.evidence.map((step) => {
        const [begin, count] = texts.evidence[step] ?? [0, 0];
        return html`<details open=${probe.evidence.length === 1}>
          <summary>Step ${step}, ${plural(count, "line")}</summary>
          <${Marked} text=${texts.lines.slice(begin, begin + count).join("\n")} label=${`Step ${step}`} /></details>`;
      })}
    </section>
  </div>`;
}

/**
 * What leads to a line of a context.
 * @param {number} cell
 * @param {number} line
 */
const lineId = (cell, line) => `context-${cell}-${line}`;

/** @param {{ line: VerdictLine, cell?: number }} props `cell` names the context that the line is of */
function Where({ line: { place, line, why }, cell }) {
  const to =
    cell !== undefined &&
    line &&
    html`${" "}<button type="button" class="to-line" onClick=${() => toWord(lineId(cell, line))}>line ${line}</button>`;
  return html`<small>${place && visible(place)}${to}${(place || to) && why && ": "}${why && visible(why)}</small>`;
}

/**
 * What is said of each statement, and what wrong is said.
 * @param {{ right: RightFrom, statements: VerdictLine[], wrong: unknown, cell?: number }} props
 */
function Statements({ right, statements, wrong, cell }) {
  const counted = new Set(statements.map(({ index }) => index));
  return html`<ul class="reasons verdicts">
    ${statements.map((line) => {
      const says = visible(right.statements[line.index ?? -1]?.says ?? "");
      return html`<li class=${KINDS[line.told ?? ""]}
        ><b>${line.told}</b>: ${says} <${Where} line=${line} cell=${cell} /></li>`;
    })}
    ${right.statements.map(
      ({ says }, index) =>
        !counted.has(index) &&
        html`<li><b>does not count</b>: ${visible(says)} <small>the question or the kept steps say it</small></li>`,
    )}
    ${wrong}
  </ul>`;
}

/** @param {{ answer: ProbeAnswer, right: RightFrom }} props */
function Answer({ answer, right }) {
  const wrong = (answer.wrong ?? []).map((says) => html`<li class="contradicts"><b>wrong</b>: ${visible(says)}</li>`);
  return html`<section class="card"><h3>Answer of ${answer.answerer}: ${fixed(answer.score, 2)} of 5${
    answer.abstains && ", says that it does not know"
  }</h3>
    <p class="instruction">${visible(answer.text)}</p>
    <${Statements} right=${right} statements=${answer.statements ?? []} wrong=${wrong} />
  </section>`;
}

/**
 * What one method left of a probe at a cut.
 * @param {Shown & { asked: AskedAtCut, method: number, title: string, other?: number }} props `other` is the method
 *   whose context stands beside it: what that says nowhere is marked.
 */
function Cell({ pack, probe, texts, told, asked, method, title, other }) {
  const verdict = told.verdicts[probe.asked.indexOf(asked)]?.[method];
  const lines = contextLines(texts, method, asked.at);
  if (!verdict || !lines) {
    return html`<section class="card"><h2>${title}</h2><p class="empty">There is no summary at this cut.</p></section>`;
  }
  const right = rightAt(told, asked.at);
  const spans = placesIn(lines, verdict, right).map((span) => ({ ...span, id: lineId(method, span.line) }));
  const others = other === undefined ? null : contextLines(texts, other, asked.at);
  const criteria = Object.entries(verdict.criteria ?? {});
  const answers = (told.answers ?? []).filter((each) => each.at === asked.at && each.method === pack.methods[method]);
  const wrong = (verdict.wrong ?? []).map(
    (line) => html`<li class="contradicts"
      ><b>contradicts</b>: ${visible(line.says ?? "")} <${Where} line=${line} cell=${method} /></li>`,
  );
  return html`<section class="card"><h2 id=${`cell-${method}`} tabindex="-1">${title}</h2>
    <p><b>${fixed(asked.scores[method], 2)}</b> of 5: ${pack.states[asked.states[method]]}${
      asked.uptakes?.includes(method) && "; the last statement in the context contradicts the answer"
    }</p>
    <${Statements} right=${right} statements=${verdict.statements} wrong=${wrong} cell=${method} />
    ${
      criteria.length > 0 &&
      html`<details><summary>Score by criterion</summary><dl>${criteria.map(
        ([name, score]) => html`<div><dt>${name.replaceAll("_", " ")}</dt><dd>${fixed(score, 2)}</dd></div>`,
      )}</dl></details>`
    }
    ${answers.map((answer) => html`<${Answer} answer=${answer} right=${right} />`)}
    <h3>The context, ${plural(lines.length, "line")}</h3>
    <${Marked}
      key=${`${method} ${asked.at}`}
      text=${lines.join("\n")}
      layers=${[spans, others ? saidAlone(lines.join("\n"), others.join("\n")) : []]}
      label=${`${title}: the context`}
      upTo=${spans.at(-1)?.end}
    />
  </section>`;
}

const PLACE_MARKS = html`<mark class="kept">says a statement</mark>${" "}
  <mark class="reworded">in other words, perhaps</mark> <mark class="against">contradicts</mark>`;

/**
 * @param {Shown} shown
 * @param {number} method
 * @param {AskedAtCut | undefined} current
 * @param {Query} query
 * @returns {Column<number>[]}
 */
const columnsOf = ({ pack, session, probe }, method, current, query) => [
  {
    key: "method",
    title: "method",
    kind: "name",
    value: (place) => pack.methods[place],
    cell: (place) => pack.methods[place],
  },
  ...probe.asked.map(
    /** @returns {Column<number>} */ (asked) => ({
      key: `cut ${asked.at + 1}`,
      title: `cut ${asked.at + 1}`,
      hint: `after step ${session.cuts[asked.at]}; ${plural(asked.age, "cut")} since its evidence was removed`,
      kind: "number",
      value: (place) => asked.scores[place],
      cell: (place) => html`<${Shade}
        score=${asked.scores[place]}
        text=${scoreText(pack, asked, place)}
        href=${address("probe", [session.name, probe.id], {
          ...query,
          method: pack.methods[place],
          at: String(asked.at),
        })}
        isCurrent=${place === method && asked === current}
        onClick=${() => setTimeout(() => toWord(`cell-${place}`), SHOWN_MS)}
      />`,
    }),
  ),
];

/** @param {Shown & { query: Query }} props */
function Found({ query, ...shown }) {
  const { pack, session, probe } = shown;
  const method = methodOf(pack, query);
  const asked = probe.asked.find(({ at }) => String(at) === query.at) ?? probe.asked[0];
  const columns = columnsOf(shown, method, asked, query);
  const sort = query.sort ?? "";
  return html`<h2>Score by method and cut</h2>
    <p class="legend">A score opens what the method left at that cut, below. ${SCORE_SIGNS}</p>
    <${Table}
      label="Score by method and cut"
      columns=${columns}
      rows=${sortRows(placesOf(pack), columns, sort)}
      sort=${sort}
      keyOf=${String}
    />
    ${
      asked &&
      html`<${Cell}
          ...${shown}
          asked=${asked}
          method=${method}
          title=${`What ${pack.methods[method]} left at cut ${asked.at + 1}, after step ${session.cuts[asked.at]}`}
        />
        <p class="legend">${PLACE_MARKS}</p>`
    }`;
}

/** @param {{ name: string, id: string, query: Query }} props */
function ProbeView({ name, id, query }) {
  const loaded = useLoaded(() => sessionOf(name, query), [name, query.run]);
  if (!loaded) return html`<${Heading} title=${id} /><p role="status">Unpacking…</p>`;
  const { pack, session, texts } = loaded;
  const place = session?.probes.findIndex((one) => one.id === id) ?? -1;
  if (!session || !texts || place < 0) return html`<${Unknown} id=${`${name} / ${id}`} />`;
  const probe = session.probes[place];
  const shared = sharedOf(query);
  const chosen = chosenProbes(session, query);
  const probes = (chosen.includes(probe) ? chosen : session.probes).map((one) => ({ case_id: one.id }));
  const to = (/** @type {string} */ next) => address("probe", [name, next], shared);
  const shown = { pack, session, probe, texts, told: texts.probes[place] };
  return html`<p class="crumbs"><a href=${address("session", [name], shared)}>Session ${name}</a></p>
    <${Heading} title=${probe.question} />
    <p class="lead"><code>${visible(id)}</code></p>
    <${Steps} cases=${probes} index=${probes.findIndex(({ case_id }) => case_id === id)} to=${to} label="Probes" />
    <p class="chips"><span>${probe.type}</span><span>made by ${probe.maker}</span></p>
    <${Asked} ...${shown} />
    <${Found} ...${shown} query=${query} />`;
}

export { Asked, Cell, PLACE_MARKS, ProbeView, sessionOf };
