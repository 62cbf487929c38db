// What filters, models and baselines keep of the output, and what that saves an agent.
import { Flags, LineFlag } from "./board.js";
import { Heading, html } from "./dom.js";
import { figureText, interval } from "./format.js";
import { address } from "./route.js";
import { overview, resultOf } from "./store.js";
import { Filter, holds, sortRows, Table } from "./table.js";

/** @import { FigureInfo, RetentionInfo, RetentionRow } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

const INTERVAL_OF = "net saved %";
// Flags of the leaderboard that say something here.
const ABOUT_KEEPING = ["incomplete", "published layout"];

/** @param {{ row: RetentionRow }} props */
function Name({ row: { id, label, is_blind, is_ceiling } }) {
  const result = resultOf(id);
  return html`${id ? html`<a href=${address("scenario", [id])}>${label}</a>` : label}${
    is_ceiling && html` <${LineFlag} name="ceiling" />`
  }${result && html`<${Flags} row=${result} only=${ABOUT_KEEPING} />`}${
    is_blind && html` <span class="flag blind" title="does not receive the question">blind</span>`
  }`;
}

/** @param {{ row: RetentionRow, column: FigureInfo }} props */
function Cell({ row, column }) {
  const form = (/** @type {number} */ value) => figureText(column, value);
  const ends = column.key === INTERVAL_OF ? row.net_saved : null;
  return html`${figureText(column, row.figures[column.key])}${ends && html` <small>${interval(ends, form)}</small>`}`;
}

/**
 * @param {FigureInfo[]} columns
 * @returns {Column<RetentionRow>[]}
 */
const tableColumns = (columns) => [
  {
    key: "result",
    title: "result",
    hint: "model, program or baseline",
    kind: "name",
    value: (row) => row.label,
    cell: (row) => html`<${Name} row=${row} />`,
  },
  ...columns.map(
    /** @returns {Column<RetentionRow>} */ (column) => ({
      key: column.key,
      title: column.title,
      hint: column.hint,
      kind: "number",
      value: (row) => row.figures[column.key],
      cell: (row) => html`<${Cell} row=${row} column=${column} />`,
    }),
  ),
];

/** @param {{ board: RetentionInfo, query: Query }} props */
function Kept({ board, query }) {
  const columns = tableColumns(board.columns);
  const rows = board.rows.filter((row) => holds(query.q, row.label));
  return html`<${Table}
      label=${`What is kept: ${board.about}`}
      columns=${columns}
      rows=${sortRows(rows, columns, query.sort ?? "")}
      sort=${query.sort ?? ""}
      keyOf=${(/** @type {RetentionRow} */ row) => row.label}
      classOf=${(/** @type {RetentionRow} */ row) => (row.is_reference ? "reference" : undefined)}
    />
    <ul class="notes">${board.notes.map((note) => html`<li>${note}</li>`)}</ul>
    <dl class="pairs">${board.columns.map(
      ({ title, hint }) => html`<div><dt>${title}</dt><dd>${hint}</dd></div>`,
    )}</dl>`;
}

/** @param {{ query: Query }} props */
function Retention({ query }) {
  const boards = overview.retention ?? [];
  return html`<${Heading} title="What is kept of the output" />
    <p class="lead">No answer format is required here: anything that reads output and prints less of it is measured by
      the names and figures that remain.</p>
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
    </form>
    ${boards.map(
      (board) => html`${boards.length > 1 && html`<h2>${board.about}</h2>`}<${Kept} board=${board} query=${query} />`,
    )}`;
}

export { Retention };
