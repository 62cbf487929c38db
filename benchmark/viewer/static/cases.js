// Cases as rows of a table: shared by the scenario's view and by stepping from case to case.
import { html } from "./dom.js";
import { fixed, seconds, signed, whole, words } from "./format.js";
import { address } from "./route.js";
import { visible } from "./text.js";
import { holds, sortRows } from "./table.js";

// Cases without an answer that could be scored have no score in their columns.
const isScored = (row) => row?.case_score !== undefined && row?.case_score !== null;

const STATUS = { accepted: "good", soft_accepted: "fair", rejected: "bad" };

function Status({ row }) {
  if (row.outcome === "instrument_failure") return html`<span class="status none">not scored</span>`;
  return html`<span class=${`status ${STATUS[row.validation_status] ?? "none"}`}>${words(row.validation_status)}</span>`;
}

// What a recovery changed in a case, in points of a hundred.
const lift = (row) => (isScored(row) ? 100 * (row.case_score - row.raw_case_score) : null);
const hundred = (value) => (value === undefined || value === null ? value : 100 * value);
const number = (key, title, hint, value, cell = (shown) => fixed(shown, 2)) => ({ key, title, hint, kind: "number", value, cell: (row) => cell(value(row)) });

function caseColumns(id, query) {
  return [
    { key: "case", title: "case", hint: "opens the case", kind: "name", value: (row) => row.case_id, cell: (row) => html`<a href=${address("case", [id, row.case_id], query)}>${visible(row.case_id)}</a>` },
    { key: "intent", title: "intent", kind: "", value: (row) => row.intent, cell: (row) => words(row.intent) },
    { key: "tool", title: "tool", kind: "", value: (row) => row.tool, cell: (row) => row.tool ?? "–" },
    { key: "difficulty", title: "difficulty", kind: "", value: (row) => row.difficulty && ["easy", "medium", "hard"].indexOf(row.difficulty), cell: (row) => words(row.difficulty) },
    number("score", "score", "case score of the recovered answer, 0 to 100", (row) => hundred(row.case_score), (value) => fixed(value)),
    number("lift", "lift", "recovered minus raw", lift, (value) => signed(value)),
    { key: "verdict", title: "verdict", kind: "", value: (row) => row.validation_status ?? row.outcome, cell: (row) => html`<${Status} row=${row} />` },
    { key: "why", title: "why", kind: "", value: (row) => why(row), cell: (row) => html`<span class="why">${why(row) || "–"}</span>` },
    number("preserve", "preserve", "share of the anchors that survived", (row) => row.exact_preservation_ratio),
    number("quality", "quality", "facts and wording against gold", (row) => row.summary_quality_ratio),
    number("format", "format", "is it in the asked format", (row) => row.format_adherence_score),
    number("brevity", "brevity", "is it short", (row) => row.brevity_ratio),
    number("instruction", "instruction", "does it keep the rules of the instruction", (row) => row.instruction_following_score),
    number("thought", "thought", "share of the recovered answer that is leaked reasoning", (row) => row.thought_leakage_density),
    number("raw_thought", "raw thought", "the same of the raw answer", (row) => row.raw_thought_leakage_density),
    number("latency", "s", "generation time", (row) => row.inference_ms, (value) => seconds(value)),
    number("tokens", "tokens", "answer tokens, by one tokenizer for all models", (row) => row.output_tokens, (value) => whole(value)),
  ];
}

const why = (row) => [...new Set([row.failure_reason, ...(row.validation_flags ?? [])])].filter(Boolean).map(words).join(", ");

const CASE_SORT = "score";

// The cases of a detail as filters and order of the address leave them.
function chosenCases(detail, id, query) {
  const wanted = detail.cases.filter(
    (row) =>
      (!query.intent || row.intent === query.intent) &&
      (!query.verdict || (row.validation_status ?? row.outcome) === query.verdict) &&
      holds(query.q, row.case_id, row.title, row.tool, row.family, row.difficulty, row.intent, why(row)),
  );
  return sortRows(wanted, caseColumns(id, query), query.sort ?? CASE_SORT);
}

export { CASE_SORT, Status, caseColumns, chosenCases, isScored };
