// Cases as rows of a table: shared by the view of a result and by stepping from case to case.
import { html } from "./dom.js";
import { fixed, known, seconds, signed, UNKNOWN, whole } from "./format.js";
import { address } from "./route.js";
import { overview } from "./store.js";
import { holds, sortRows } from "./table.js";
import { visible } from "./text.js";

/** @import { ViewFigures } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Case, Loaded } from "./store.js" */
/** @import { Column } from "./table.js" */
/** @typedef {Case & { recovered: ViewFigures, raw: ViewFigures }} ScoredCase */

/**
 * @param {Case | undefined} row
 * @returns {row is ScoredCase}
 */
const isScored = (row) => row?.recovered !== undefined && row.raw !== undefined;

/** @param {{ row: Case }} props */
function Status({ row }) {
  return html`<span class=${`status ${row.verdict.split(" ")[0]}`}>${row.verdict}</span>`;
}

const wordingHint = `no statements yet: ${overview.by_wording}`;

/** The mark of a case in prose that has no statements. */
function ByWording() {
  return html`<span class="by-wording" title=${wordingHint}
    ><i aria-hidden="true">~</i><span class="hidden">(${wordingHint})</span></span>`;
}

/**
 * What recovery changed in a case, in points of a hundred.
 * @param {Case} row
 */
const lift = (row) => (isScored(row) ? 100 * (row.recovered.score - row.raw.score) : undefined);

/** @param {number | undefined} value */
const hundred = (value) => (known(value) ? 100 * value : undefined);

/**
 * @param {string} key
 * @param {string} title
 * @param {string} hint
 * @param {(row: Case) => number | undefined} value
 * @param {(value: number | undefined) => string} text
 * @returns {Column<Case>}
 */
const number = (key, title, hint, value, text = (shown) => fixed(shown, 2)) => ({
  key,
  title,
  hint,
  kind: "number",
  value,
  cell: (row) => text(value(row)),
});

/**
 * @param {string} key
 * @param {(row: Case) => string} value
 * @returns {Column<Case>}
 */
const text = (key, value) => ({ key, title: key, kind: "", value, cell: (row) => value(row) || UNKNOWN });

/**
 * @param {string} id of the result
 * @param {Query} query
 * @returns {Column<Case>[]}
 */
function caseColumns(id, query) {
  return [
    {
      key: "case",
      title: "case",
      hint: "opens the case",
      kind: "name",
      value: (row) => row.case_id,
      cell: (row) => html`<a href=${address("case", [id, row.case_id], query)}>${visible(row.case_id)}</a>`,
    },
    {
      ...text("intent", (row) => row.intent),
      cell: (row) => html`${row.intent || UNKNOWN}${row.by_wording && html` <${ByWording} />`}`,
    },
    text("tool", (row) => row.tool),
    {
      ...text("difficulty", (row) => row.difficulty),
      value: (row) => row.difficulty && overview.difficulties.indexOf(row.difficulty),
    },
    number(
      "score",
      "score",
      "case score of the recovered answer, 0 to 100",
      (row) => hundred(row.recovered?.score),
      (value) => fixed(value),
    ),
    number("lift", "lift", "recovered minus raw", lift, (value) => signed(value)),
    {
      ...text("verdict", (row) => row.verdict),
      hint: "whether the form of the answer is usable; it does not say whether the answer is right",
      cell: (row) => html`<${Status} row=${row} />`,
    },
    {
      ...text("why", why),
      hint: "what is wrong with the form, or how generation failed",
      cell: (row) => html`<span class="why">${why(row) || UNKNOWN}</span>`,
    },
    ...overview.components.map(({ name, hint }) => number(name, name, hint, (row) => row.recovered?.parts[name])),
    number("thought", "thought", "share of the recovered answer that is leaked reasoning", (row) =>
      thought(row.recovered),
    ),
    number("raw_thought", "raw thought", "the same of the raw answer", (row) => thought(row.raw)),
    number("latency", "s", "generation time", (row) => row.total_ms, seconds),
    number("tokens", "tokens", "answer tokens, by one tokenizer for all models", (row) => row.recovered?.tokens, whole),
  ];
}

/** @param {ViewFigures | undefined} view */
const thought = (view) => view && (view.thought ?? 0);

/**
 * What is wrong with the form of an answer, and how generation failed.
 * @param {Case} row
 */
const reasonsOf = (row) => [...new Set([row.failure, ...(row.recovered?.flags ?? [])])].filter(Boolean);

/** @param {Case} row */
const why = (row) => reasonsOf(row).join(", ");

const CASE_SORT = "score";

/**
 * The cases of a result as filters and order of the address leave them.
 * @param {Loaded} detail
 * @param {string} id
 * @param {Query} query
 */
function chosenCases(detail, id, query) {
  const wanted = detail.cases.filter(
    (row) =>
      (!query.intent || row.intent === query.intent) &&
      (!query.verdict || row.verdict === query.verdict) &&
      (!query.why || reasonsOf(row).includes(query.why)) &&
      holds(query.q, row.case_id, row.title, row.domain, row.tool, row.family, row.difficulty, row.intent, why(row)),
  );
  return sortRows(wanted, caseColumns(id, query), query.sort ?? CASE_SORT);
}

export { CASE_SORT, caseColumns, chosenCases, isScored, reasonsOf, Status, wordingHint };
