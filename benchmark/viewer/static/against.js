// One result of the board as the line by which all others are measured.
import { html } from "./dom.js";
import { interval, signed, UNKNOWN } from "./format.js";
import { comparison } from "./pairs.js";
import { address } from "./route.js";

/** @import { PageBoardRow, Pair } from "./page_records.d.ts" */
/** @import { Column } from "./table.js" */

/** @type {Record<string, string>} */
const TONES = { better: "good", worse: "bad" };

/**
 * The figure of two results that has a verdict: the one by which the board ranks.
 * @param {Pair | undefined} pair
 */
const ranked = (pair) => (pair?.no_verdict ? undefined : pair?.figures.find(({ verdict }) => verdict));

/** @param {{ row: PageBoardRow, base: PageBoardRow, pair: Pair | undefined }} props */
function Against({ row, base, pair }) {
  if (row.key === base.key) return html`<b>measured by it</b>`;
  const figure = ranked(pair);
  if (!figure) return html`<span title=${pair?.no_verdict || "they share no cases"}>${UNKNOWN}</span>`;
  const { gain, interval: ends, verdict = "" } = figure;
  return html`<span class="figures"><a href=${address("compare", [base.id, row.id])}
    ><b class=${TONES[verdict]}>${signed(gain)}</b></a>${" "}
    <small>${interval(ends, signed)} ${verdict}</small></span>`;
}

/**
 * What each result gains over one of them, with the verdict of the comparison of the two.
 * @param {PageBoardRow} base
 * @param {Pair[]} pairs
 * @returns {Column<PageBoardRow>}
 */
function againstColumn(base, pairs) {
  const pairOf = (/** @type {PageBoardRow} */ row) => (row.key === base.key ? undefined : comparison(pairs, base, row));
  return {
    key: "against",
    title: "against",
    hint: `quality core less that of ${base.label}, on the cases they share; 95% interval and verdict`,
    kind: "number",
    value: (row) => (row.key === base.key ? 0 : ranked(pairOf(row))?.gain),
    cell: (row) => html`<${Against} row=${row} base=${base} pair=${pairOf(row)} />`,
  };
}

export { againstColumn, TONES };
