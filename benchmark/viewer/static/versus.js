// Two to four results on the cases they share: differences with their uncertainty, then case by case.
import { TONES } from "./against.js";
import { isRival, MOST_CHOSEN } from "./board.js";
import { AnswerView, Chips, Gold, QuestionView } from "./case.js";
import { isScored, Status } from "./cases.js";
import { wordDifference } from "./difference.js";
import { Heading, html, inputOf, isChecked, useRef } from "./dom.js";
import { fixed, interval, plural, pValue, seconds, signed, UNKNOWN } from "./format.js";
import { comparison } from "./pairs.js";
import { address, go, pushQuery } from "./route.js";
import { Unknown } from "./scenario.js";
import { allPairs, answerOf, detailOf, questionOf, resultOf, results, useLoaded } from "./store.js";
import { Choice, Filter, holds, sortRows, Table } from "./table.js";
import { Take } from "./take.js";
import { visible } from "./text.js";

/** @import { PageBoardRow, Pair, PairFigure, PairSpeed } from "./page_records.d.ts" */
/** @import { ScoredCase } from "./cases.js" */
/** @import { Query } from "./route.js" */
/** @import { Asked, Case, Loaded } from "./store.js" */
/** @import { Column } from "./table.js" */
/**
 * A case that all results answered: `flip` where some passed and some did not, `gap` the widest difference.
 * @typedef {ScoredCase & { scores: number[], passes: boolean[], gap: number, flip: boolean }} SharedCase
 */

const LETTERS = "ABCD";

/** @param {{ rows: PageBoardRow[] }} props */
function Choose({ rows }) {
  const ids = rows.map((row) => row.id);
  const rest = results.filter((row) => row.answered && !rows.includes(row));
  const offered = [...rest.filter(isRival), ...rest.filter((row) => !isRival(row))];
  const without = (/** @type {string} */ id) =>
    address(
      "compare",
      ids.filter((other) => other !== id),
    );
  // Arrows pass by results on the way to one; who uses them says with Enter which it is.
  const isPassing = useRef(false);
  const add = (/** @type {Event} */ event) => {
    if (!isPassing.current) go(address("compare", [...ids, inputOf(event)]));
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    isPassing.current = event.key.startsWith("Arrow") && !event.altKey;
    if (event.key === "Enter" && inputOf(event)) {
      event.preventDefault();
      add(event);
    }
  };
  return html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    ${rows.map(
      ({ id, label }, index) => html`<span class="chosen"
        ><b>${LETTERS[index]}</b> <a href=${address("scenario", [id])}>${label}</a>
        <button type="button" aria-label=${`remove ${label}`} onClick=${() => go(without(id))}>×</button></span>`,
    )}
    ${
      ids.length < MOST_CHOSEN &&
      html`<label class="field"><span>Add</span>
      <select value="" onChange=${add} onKeyDown=${pressed}>
        <option value="">choose…</option>
        ${offered.map((row) => html`<option key=${row.id} value=${row.id}>${row.label}</option>`)}
      </select></label>`
    }
  </form>`;
}

/** @param {{ figure: PairFigure }} props */
function Difference({ figure }) {
  const { name, cases, a, b, gain, p, verdict = "" } = figure;
  const ends = figure.interval;
  return html`<tr>
    <th scope="row">${name}</th>
    <td class="number">${cases}</td>
    <td class="number">${fixed(a)}</td>
    <td class="number">${fixed(b)}</td>
    <td class="number">${signed(gain)}</td>
    <td class="number">${ends ? interval(ends, signed) : UNKNOWN}</td>
    <td class="number">${ends ? pValue(p) : UNKNOWN}</td>
    <td><${Verdict} verdict=${verdict} /></td>
  </tr>`;
}

/** @param {{ verdict: string }} props */
const Verdict = ({ verdict }) => (verdict in TONES ? html`<b class=${TONES[verdict]}>${verdict}</b>` : verdict);

/** @param {{ speed: PairSpeed, cases: number, letter: string }} props */
function Speed({ speed: { a, b, ratio, interval: ends, verdict }, cases, letter }) {
  return html`<tbody>
    <tr><th colspan="8" scope="rowgroup" class="group"
      >mean seconds per case, on one machine; a ratio, ${letter} / A</th></tr>
    <tr>
      <th scope="row">latency</th>
      <td class="number">${cases}</td>
      <td class="number">${seconds(a)}</td>
      <td class="number">${seconds(b)}</td>
      <td class="number">${fixed(ratio, 2)}×</td>
      <td class="number">${ends ? interval(ends, (end) => fixed(end, 2)) : UNKNOWN}</td>
      <td class="number">${UNKNOWN}</td>
      <td>${verdict}</td>
    </tr>
  </tbody>`;
}

/** @param {{ pair: Pair, base: string, other: string, letter: string }} props */
function Against({ pair, base, other, letter }) {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  const left = pair.only_a + pair.only_b;
  const rows = (/** @type {PairFigure[]} */ figures) =>
    figures.map((figure) => html`<${Difference} figure=${figure} />`);
  const numbers = ["cases", "A", letter, `${letter} − A`, "95% interval", "p"];
  if (pair.no_verdict) {
    return html`<section class="card">
      <h2>${letter} against A</h2>
      <p class="fault">${letter} (${other}) against A (${base}), ${pair.no_verdict}. Their scores are not shown side by
        side: ${pair.what_helps}.</p>
    </section>`;
  }
  return html`<section class="card">
    <h2>${letter} against A</h2>
    ${pair.words && html`<p class="verdict">${pair.words.replaceAll("{b}", letter)}</p>`}
    <p>${letter} is <b>${other}</b>, A is <b>${base}</b>. ${plural(pair.shared, "shared case")}${
      left > 0 && `; ${left} that only one of them answered are left out`
    }.${" "}
      ${letter} wins <b>${pair.wins}</b>, loses <b>${pair.losses}</b>, ties <b>${pair.ties}</b> (less than a point
      apart).</p>
    <div class="scroll" role="region" aria-label=${`${letter} against A`} tabindex="0" ref=${region}>
    <table class="plain">
      <thead><tr>
        <th scope="col">score</th>
        ${numbers.map((title) => html`<th scope="col" class="number">${title}</th>`)}
        <th scope="col">${letter} is</th>
      </tr></thead>
      <tbody>${rows(pair.figures)}</tbody>
      ${
        pair.intents.length > 0 &&
        html`<tbody>
          <tr><th colspan="8" scope="rowgroup" class="group"
            >mean case score by intent (intervals and p corrected for their number)</th></tr>
          ${rows(pair.intents)}
        </tbody>`
      }
      ${pair.speed && html`<${Speed} speed=${pair.speed} cases=${pair.shared} letter=${letter} />`}
    </table></div>
    <${Take} region=${region} />
    <p class="legend">The verdict is on the quality core. Final, raw and lift hold latency, so they have none.${" "}
      ${pair.untimed && `Times are not compared: ${pair.untimed}. `}
      ${
        pair.corrected_for &&
        html`Its interval and p are corrected for ${plural(pair.corrected_for, "pair")} of results with a rank.`
      }</p>
  </section>`;
}

/**
 * @param {Loaded[]} details
 * @returns {SharedCase[]}
 */
function sharedCases([first, ...others]) {
  return first.cases.flatMap((row) => {
    const rows = [row, ...others.map((detail) => detail.byId.get(row.case_id))].filter(isScored);
    if (!isScored(row) || rows.length <= others.length) return [];
    const scores = rows.map((one) => 100 * one.recovered.score);
    const passes = rows.map((one) => Boolean(one.passed));
    const gap = Math.max(...scores) - Math.min(...scores);
    return [{ ...row, scores, passes, gap, flip: passes.some(Boolean) && !passes.every(Boolean) }];
  });
}

/**
 * A case that A passes, and another does not.
 * @param {SharedCase} row
 */
const isLoss = ({ flip, passes }) => flip && passes[0];

/** @param {SharedCase} row */
const passedBy = ({ passes }) => [...LETTERS].filter((_, index) => passes[index]).join(" ") || "none";

/**
 * @param {PageBoardRow[]} results
 * @param {boolean} isComparable whether scores of these may be subtracted
 * @returns {Column<SharedCase>[]}
 */
function sharedColumns(results, isComparable) {
  const ids = results.map((row) => row.id);
  /** @param {SharedCase} row */
  const gain = (row, index = 0) => row.scores[index] - row.scores[0];
  return [
    {
      key: "case",
      title: "case",
      kind: "name",
      value: (row) => row.case_id,
      cell: (row) => html`<a href=${address("compare", ids, { case: row.case_id })}>${visible(row.case_id)}</a>`,
    },
    { key: "intent", title: "intent", kind: "", value: (row) => row.intent, cell: (row) => row.intent || UNKNOWN },
    {
      key: "flip",
      title: "passed by",
      hint: "usable, with every anchor and a score of 50 or more; what only A passes comes first, then other flips",
      kind: "number",
      value: (row) => (row.flip ? 1000 : 0) + (isLoss(row) ? 1000 : 0) + row.gap,
      cell: (row) => html`<span class=${isLoss(row) ? "flip bad" : row.flip ? "flip" : ""}>${passedBy(row)}</span>`,
    },
    ...results.map(
      /** @returns {Column<SharedCase>} */ ({ label }, index) => ({
        key: LETTERS[index],
        title: LETTERS[index],
        hint: label,
        kind: "number",
        value: (row) => row.scores[index],
        cell: (row) => html`<span class=${row.passes[index] ? "passed" : ""}>${fixed(row.scores[index])}</span>`,
      }),
    ),
    ...(isComparable ? ids.slice(1) : []).map(
      /** @returns {Column<SharedCase>} */ (_, index) => ({
        key: `${LETTERS[index + 1]}A`,
        title: `${LETTERS[index + 1]} − A`,
        kind: "number",
        value: (row) => gain(row, index + 1),
        cell: (row) => signed(gain(row, index + 1)),
      }),
    ),
  ];
}

/** @param {{ pairs: Pair[] | null, details: Loaded[], rows: PageBoardRow[], query: Query }} props */
function CaseByCase({ pairs, details, rows, query }) {
  const all = sharedCases(details);
  const [base, ...others] = rows;
  const isComparable = !others.some((other) => pairs && comparison(pairs, base, other)?.no_verdict);
  const columns = sharedColumns(rows, isComparable);
  const shown = all.filter(
    (row) =>
      (!query.intent || row.intent === query.intent) &&
      (query.flips !== "1" || row.flip) &&
      holds(query.q, row.case_id, row.title, row.tool),
  );
  const flips = all.filter((row) => row.flip).length;
  const intents = [...new Set(all.map((row) => row.intent).filter(Boolean))].sort();
  const sort = query.sort ?? "-flip";
  const change = (/** @type {Event} */ event) => pushQuery({ flips: isChecked(event) ? "1" : "" });
  return html`<h2>Case by case</h2>
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
      <${Choice} label="Intent" name="intent" value=${query.intent} options=${intents} />
      <label class="check"
        ><input type="checkbox" checked=${query.flips === "1"} onChange=${change} /> flips only</label>
    </form>
    <p role="status">${shown.length} of ${plural(all.length, "shared case")}, ${plural(flips, "flip")} (passed by some,
      not by all). An answer passes if it is usable, has every anchor and a score of 50 or more.</p>
    <${Table}
      label="Case by case"
      columns=${columns}
      rows=${sortRows(shown, columns, sort)}
      sort=${sort}
      keyOf=${(/** @type {SharedCase} */ row) => row.case_id}
    />`;
}

/**
 * @param {{
 *   letter: string, result: PageBoardRow, row: Case | undefined, question: Asked | undefined, first: Case,
 * }} props
 */
function OneAnswer({ letter, result, row, question, first }) {
  if (!row || !isScored(row) || !question) {
    return html`<section class="card"><h2>${letter}</h2><p class="empty">no scored answer</p></section>`;
  }
  const { recovered } = answerOf(question, result);
  const { anchors, gold } = question;
  const found = anchors && `${anchors.length - recovered.missing.length} of ${plural(anchors.length, "anchor")}`;
  const extra = wordDifference(gold, recovered.output)?.extra;
  return html`<div>
    <${AnswerView} title=${`${letter} ${fixed(100 * row.recovered.score)}`} view=${recovered} extra=${extra} />
    <p><${Status} row=${row} /> ${found} <a href=${address("case", [result.id, row.case_id])}>${result.label}</a></p>
    ${
      row.question !== first.question &&
      html`<p class="fault">${letter} was asked something else: its corpus has another version of this case.</p>`
    }
  </div>`;
}

/**
 * All answers to one case.
 * @param {{
 *   details: Loaded[], results: PageBoardRow[], caseId: string, names?: string[], crumbs: unknown, steps?: unknown,
 * }} props
 */
function SideBySide({ details, results: compared, caseId, names = [...LETTERS], crumbs, steps }) {
  const ids = compared.map((row) => row.id);
  const rows = details.map((detail) => detail.byId.get(caseId));
  const questions = useLoaded(
    () => Promise.all(rows.map(async (row) => row && questionOf(row))),
    [caseId, ids.join("\n")],
  );
  const first = rows.find((row) => row !== undefined);
  if (!first) return html`<${Unknown} id=${caseId} />`;
  const head = html`<p class="crumbs">${crumbs}</p>
    <${Heading} title=${first.title || caseId} />
    <p class="lead"><code>${visible(caseId)}</code></p>
    ${steps}
    <${Chips} row=${first} />`;
  const asked = questions?.[rows.indexOf(first)];
  if (!questions || !asked) return html`${head}<p role="status">Unpacking…</p>`;
  return html`${head}
    <${QuestionView} row=${first} question=${asked} />
    <div class="answers">
      <${Gold} question=${asked} row=${first} />
      ${compared.map(
        (result, index) => html`<${OneAnswer}
          letter=${names[index]}
          result=${result}
          row=${rows[index]}
          question=${questions[index]}
          first=${first}
        />`,
      )}
    </div>
    <p class="legend"><mark class="extra">in the answer only</mark>${" "}
      <mark class="moved">in both, at another place</mark> <mark class="thought">leaked thought</mark></p>`;
}

/** @param {{ pairs: Pair[] | null, rows: PageBoardRow[] }} props */
function Comparisons({ pairs, rows }) {
  if (!pairs) {
    return html`<p>This page holds too many results for intervals of every pair; build one of these alone:${" "}
      <code>python -m benchmark.viewer A.json B.json</code></p>`;
  }
  const [base, ...others] = rows;
  return others.map((other, index) => {
    const pair = comparison(pairs, base, other);
    if (!pair) return html`<p>${other.label} and ${base.label} share no answered case.</p>`;
    const letter = LETTERS[index + 1];
    return html`<${Against} pair=${pair} base=${base.label} other=${other.label} letter=${letter} />`;
  });
}

/** @param {{ ids: string[], query: Query }} props */
function Versus({ ids: given, query }) {
  const ids = given.filter((id, index) => given.indexOf(id) === index).slice(0, MOST_CHOSEN);
  const unknown = ids.find((id) => !resultOf(id));
  const rows = ids.map(resultOf).filter((row) => row !== undefined);
  const loaded = useLoaded(
    async () => ({ pairs: await allPairs(), details: await Promise.all(rows.map(detailOf)) }),
    [ids.join("\n")],
  );
  if (unknown) return html`<${Unknown} id=${unknown} />`;
  const head = html`<${Heading} title="Head to head" /><${Choose} rows=${rows} />`;
  if (ids.length < 2) {
    return html`${head}<p>Choose two to four results; the first, A, is what the others are measured against.</p>`;
  }
  if (!loaded) return html`${head}<p role="status">Unpacking…</p>`;
  const { pairs, details } = loaded;
  if (query.case) {
    const crumbs = html`<a href=${address("compare", ids)}>Head to head</a>`;
    return html`<${SideBySide} details=${details} results=${rows} caseId=${query.case} crumbs=${crumbs} />`;
  }
  return html`${head}
    <${Comparisons} pairs=${pairs} rows=${rows} />
    <${CaseByCase} pairs=${pairs} details=${details} rows=${rows} query=${query} />`;
}

export { SideBySide, Versus };
