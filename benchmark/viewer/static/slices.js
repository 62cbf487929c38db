// The score of each result on a slice: the cases of one intent, one tool or one domain.

import { BoardTitle } from "./board.js";
import { Heading, html, inputOf } from "./dom.js";
import { fixed, interval, plural, signed, UNKNOWN, whole } from "./format.js";
import { address, pushQuery } from "./route.js";
import { results, slicePack, useLoaded } from "./store.js";
import { sortRows, Table } from "./table.js";

/** @import { PageBoardRow, BoardSlices, SliceInfo, SlicePack, SliceRow } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

const byKey = new Map(results.map((row) => [row.key, row]));

/** @param {SliceRow} row */
const resultOf = (row) => /** @type {PageBoardRow} */ (byKey.get(row.key));

/** @param {SliceRow} row */
const rankOf = ({ rank }) => (rank ? `${rank.place}${rank.tied ? "=" : ""}` : UNKNOWN);

/** @type {Column<SliceRow>[]} */
const COLUMNS = [
  {
    key: "rank",
    title: "rank",
    hint: "on these cases alone; a result that is not significantly better than the best baseline has no rank",
    kind: "",
    value: (row) => row.rank?.place,
    cell: rankOf,
  },
  {
    key: "result",
    title: "result",
    hint: "model, device and settings",
    kind: "name",
    value: (row) => resultOf(row).label,
    cell: (row) => html`<a href=${address("scenario", [resultOf(row).id])}>${resultOf(row).label}</a>`,
  },
  {
    key: "core",
    title: "quality core",
    hint: "80% mean and 20% 10th percentile of the case scores, on these cases alone",
    kind: "number",
    value: (row) => row.core,
    cell: (row) => html`<b>${fixed(row.core)}</b> <small>${interval(row.interval, (end) => fixed(end))}</small>`,
  },
  {
    key: "gain",
    title: "above baseline",
    hint: "quality core minus that of the best baseline on these cases, with its 95% interval",
    kind: "number",
    value: (row) => row.gain,
    cell: (row) =>
      row.gain === undefined || row.gain === null
        ? UNKNOWN
        : html`${signed(row.gain)} <small>${interval(row.gain_interval, signed)}</small>`,
  },
  {
    key: "cases",
    title: "cases",
    hint: "number of these cases that this result contains",
    kind: "number",
    value: (row) => row.cases,
    cell: (row) => whole(row.cases),
  },
];

/** @param {SliceInfo} slice */
const nameOf = ({ facet, name }) => `${facet}=${name}`;

/** @param {{ all: SliceInfo[], chosen: string }} props */
function SliceChoice({ all, chosen }) {
  const facets = [...new Set(all.map(({ facet }) => facet))];
  // Boards of the same corpus have the same slices; each is listed once.
  const named = new Map(all.map((slice) => [nameOf(slice), slice]));
  const change = (/** @type {Event} */ event) => pushQuery({ slice: inputOf(event) });
  return html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label class="field"><span>Slice</span>
      <select value=${chosen} onChange=${change}>
        ${facets.map(
          (facet) => html`<optgroup label=${facet}>
            ${[...named]
              .filter(([, slice]) => slice.facet === facet)
              .map(([name, slice]) => html`<option value=${name}>${slice.name} (${slice.cases})</option>`)}
          </optgroup>`,
        )}
      </select>
    </label>
  </form>`;
}

/** @param {{ board: BoardSlices, slice: SliceInfo, sort: string }} props */
function Sliced({ board, slice, sort }) {
  return html`<p class="lead">${plural(slice.cases, "case")} about ${plural(slice.captures, "raw output")}.
      ${slice.floor && ` The best baseline on them, a program without a model: ${slice.floor}.`}</p>
    <${Table}
      label=${`${slice.facet} ${slice.name}: ${board.about}`}
      columns=${COLUMNS}
      rows=${sortRows(slice.rows, COLUMNS, sort)}
      sort=${sort}
      keyOf=${(/** @type {SliceRow} */ row) => String(row.key)}
    />`;
}

/** @param {{ pack: SlicePack, query: Query }} props */
function Loaded({ pack, query }) {
  const all = pack.boards.flatMap(({ slices }) => slices);
  const few = html`<p class="legend">Slices of fewer than ${pack.fewest} raw outputs are left out, because their
    intervals are not reliable. <code>python -m benchmark.report RESULTS --slice tool</code> shows them.</p>`;
  if (!all.length) return html`<p>No slice is shown: each is too small, or there are too many results.</p>${few}`;
  const chosen = query.slice || nameOf(all[0]);
  const shown = pack.boards.flatMap((board) =>
    board.slices.filter((each) => nameOf(each) === chosen).map((slice) => ({ board, slice })),
  );
  return html`<${SliceChoice} all=${all} chosen=${chosen} />
    ${shown.map(
      ({ board, slice }) => html`${pack.boards.length > 1 && html`<${BoardTitle} about=${board.about} />`}
        <${Sliced} board=${board} slice=${slice} sort=${query.sort ?? "-core"} />`,
    )}
    ${
      shown.length < pack.boards.length &&
      html`<p>${shown.length ? "Other leaderboards have" : "All leaderboards have"} too few of these cases.</p>`
    }
    <p class="legend">Scores, intervals and ranks are computed from these cases alone. A rank with = is tied: the
      difference from at least one other result may be chance. A result has a rank here if it is significantly
      better than the best baseline on these cases; where no baseline was scored, if it has a rank on the
      leaderboard.</p>
    ${few}`;
}

/** @param {{ query: Query }} props */
function Slices({ query }) {
  const pack = useLoaded(slicePack, []);
  return html`<${Heading} title="Slices" />
    ${pack ? html`<${Loaded} pack=${pack} query=${query} />` : html`<p>Unpacking…</p>`}`;
}

export { Slices };
