// Cases by models: which cases are hard, which are failed by all, and which tell good models from weak ones.
import { Steps } from "./case.js";
import { Heading, html, inputOf } from "./dom.js";
import { fixed, plural, signed, UNKNOWN } from "./format.js";
import { address, pushQuery } from "./route.js";
import { Unknown } from "./scenario.js";
import { caseItems, detailOf, results, useLoaded } from "./store.js";
import { Choice, Filter, holds, sortRows, Table } from "./table.js";
import { visible } from "./text.js";
import { SideBySide } from "./versus.js";

/** @import { BoardItems, CaseItem, OrderedItems, CatalogEntry, PageBoardRow } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */
/** @typedef {CaseItem & { entry: CatalogEntry }} Item */

const byKey = new Map(results.map((row) => [row.key, row]));
const SHADES = 5;

/** @param {BoardItems} board */
const modelsOf = (board) => board.models.map((key) => /** @type {PageBoardRow} */ (byKey.get(key)));

/**
 * The cases that an order is about, as the filters leave them.
 * @param {BoardItems} board
 * @param {OrderedItems | undefined} order
 * @param {CatalogEntry[]} catalog
 * @param {Query} query
 * @returns {Item[]}
 */
const chosenItems = (board, order, catalog, query) => {
  const passer = modelsOf(board).findIndex(({ id }) => id === query.passed);
  return (order?.items ?? [])
    .map((place) => ({ ...board.items[place], entry: catalog[board.items[place].question] }))
    .filter(
      ({ entry, passes }) =>
        (!query.intent || entry.intent === query.intent) &&
        (passer < 0 || passes.includes(passer)) &&
        holds(query.q, entry.case_id, entry.title, entry.domain, entry.tool, entry.difficulty),
    );
};

/** @param {{ item: Item, result: PageBoardRow, place: number }} props */
function Score({ item, result, place }) {
  const score = item.scores[place];
  if (score === null) return html`<span class="shade">${UNKNOWN}</span>`;
  const shade = Math.min(SHADES - 1, Math.floor(SHADES * score));
  const mark = item.passes.includes(place) && html`<i aria-hidden="true">✓</i><span class="hidden"> passed</span>`;
  return html`<a class=${`shade s${shade}`} href=${address("case", [result.id, item.entry.case_id])}
    >${fixed(100 * score, 0)}${mark}</a>`;
}

/**
 * @param {string} key
 * @param {string} hint
 * @param {(item: Item) => number | null | undefined} value
 * @param {(value: number) => string} text
 * @returns {Column<Item>}
 */
const figure = (key, hint, value, text) => ({
  key,
  title: key,
  hint,
  kind: "number",
  value,
  cell: (item) => {
    const found = value(item);
    return found === null || found === undefined ? UNKNOWN : text(found);
  },
});

/** @param {number} score */
const hundred = (score) => fixed(100 * score, 0);

/**
 * @param {PageBoardRow[]} models
 * @param {Query} query
 * @returns {Column<Item>[]}
 */
const columnsOf = (models, query) => [
  {
    key: "case",
    title: "case",
    hint: "opens the answers of all models",
    kind: "name",
    value: ({ entry }) => entry.case_id,
    cell: ({ entry }) =>
      html`<a href=${address("cases", [], { ...query, case: entry.case_id })}>${visible(entry.case_id)}</a>`,
  },
  {
    key: "intent",
    title: "intent",
    kind: "aside",
    value: ({ entry }) => entry.intent,
    cell: ({ entry }) => entry.intent || UNKNOWN,
  },
  figure("mean", "of the case scores of all models, 0 to 100", ({ mean }) => mean, hundred),
  figure("spread", "standard deviation of these scores", ({ spread }) => spread, hundred),
  figure("passed %", "of the models", ({ passed }) => passed, hundred),
  figure(
    "discrimination",
    "correlation of these scores with the means of the other cases: below 0, weak models do better than strong ones",
    ({ discrimination }) => discrimination,
    (value) => signed(value, 2),
  ),
  ...models.map(
    /** @returns {Column<Item>} */ (result, place) => ({
      key: result.id,
      title: result.label,
      hint: `${result.label}: case score, 0 to 100; ✓: passed`,
      kind: "model",
      value: ({ scores }) => scores[place],
      cell: (item) => html`<${Score} item=${item} result=${result} place=${place} />`,
    }),
  ),
];

/** @param {{ orders: OrderedItems[], chosen: string }} props */
function Orders({ orders, chosen }) {
  const change = (/** @type {string} */ key) => pushQuery({ order: key, sort: "" });
  return html`<div class="choices" role="group" aria-label="cases">
    ${orders.map(
      ({ key, words, items }) => html`<button
        type="button"
        aria-pressed=${key === chosen}
        onClick=${() => change(key)}
        >${words} (${items.length})</button>`,
    )}
  </div>`;
}

/**
 * Leaves the cases that one model passes.
 * @param {{ models: PageBoardRow[], value: string | undefined }} props
 */
function PassedBy({ models, value }) {
  const change = (/** @type {Event} */ event) => pushQuery({ passed: inputOf(event) });
  return html`<label class="field"><span>Passed by</span>
    <select value=${models.some(({ id }) => id === value) ? value : ""} onChange=${change}>
      <option value="">any or none</option>
      ${models.map(({ id, label }) => html`<option key=${id} value=${id}>${label}</option>`)}
    </select></label>`;
}

/** @param {{ board: BoardItems, order: OrderedItems, items: Item[], query: Query }} props */
function Grid({ board, order, items, query }) {
  const columns = columnsOf(modelsOf(board), query);
  const count = order.items.length;
  const status = `${items.length === count ? "" : `${items.length} of `}${plural(count, "case")}`;
  return html`<p role="status">${status}: ${order.words}${
    !count && board.unknown && order.key === WEAK_WIN ? ` (${board.unknown})` : ""
  }</p>
    <${Table}
      label=${`Cases by models: ${board.about}`}
      columns=${columns}
      rows=${sortRows(items, columns, query.sort ?? "")}
      sort=${query.sort ?? ""}
      keyOf=${(/** @type {Item} */ { entry }) => entry.case_id}
    />`;
}

const WEAK_WIN = "weak-win";

/** @param {{ board: BoardItems, items: Item[], query: Query }} props */
function AllAnswers({ board, items, query }) {
  const caseId = query.case;
  const known = modelsOf(board);
  const details = useLoaded(() => Promise.all(known.map(detailOf)), [board.about]);
  if (!details) return html`<p role="status">Unpacking…</p>`;
  const item = items.find(({ entry }) => entry.case_id === caseId);
  // The best answer stands first; who looks for the worst, at the end.
  const places = known.map((_, place) => place).filter((place) => details[place].byId.has(caseId));
  const scoreOf = (/** @type {number} */ place) => details[place].byId.get(caseId)?.recovered?.score ?? -1;
  places.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b);
  if (!places.length) return html`<${Unknown} id=${caseId} />`;
  const to = (/** @type {string} */ next) => address("cases", [], { ...query, case: next });
  const rows = sortRows(items, columnsOf(known, query), query.sort ?? "");
  const crumbs = html`<a href=${address("cases", [], { ...query, case: "" })}>Cases</a>`;
  const steps = item && html`<${Steps} cases=${rows.map(({ entry }) => entry)} index=${rows.indexOf(item)} to=${to} />`;
  return html`<${SideBySide}
    details=${places.map((place) => details[place])}
    results=${places.map((place) => known[place])}
    names=${places.map((place) => known[place].label)}
    caseId=${caseId}
    crumbs=${crumbs}
    steps=${steps}
  />`;
}

/** @param {{ query: Query }} props */
function CasesByModel({ query }) {
  const loaded = useLoaded(caseItems, []);
  const head = html`<${Heading} title="Cases" />`;
  if (!loaded) return html`${head}<p role="status">Unpacking…</p>`;
  const { boards, catalog } = loaded;
  const board = boards.find(({ about }) => about === query.board) ?? boards[0];
  if (!board) return html`${head}<p>These results contain no model answers.</p>`;
  const order = board.orders.find(({ key }) => key === query.order) ?? board.orders[0];
  const items = chosenItems(board, order, catalog, query);
  if (query.case) return html`<${AllAnswers} key=${query.case} board=${board} items=${items} query=${query} />`;
  const intents = [...new Set(board.items.map(({ question }) => catalog[question].intent).filter(Boolean))].sort();
  const abouts = boards.map(({ about }) => about);
  return html`${head}
    ${order && html`<${Orders} orders=${board.orders} chosen=${order.key} />`}
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
      <${Choice} label="Intent" name="intent" value=${query.intent} options=${intents} />
      <${PassedBy} models=${modelsOf(board)} value=${query.passed} />
      ${
        abouts.length > 1 &&
        html`<${Choice} label="Board" name="board" value=${board.about} options=${abouts} all=${false} />`
      }
    </form>
    ${
      order
        ? html`<${Grid} board=${board} order=${order} items=${items} query=${query} />`
        : html`<p>This page holds too many results for a table of them; for the hardest cases:${" "}
            <code>python -m benchmark.report RESULTS --cases hardest</code></p>`
    }
    <p class="legend">Case scores from 0 to 100; darker is higher. ✓: the answer passed, that is, it is usable, has
      every anchor and a score of 50 or more. A case leads to the answers of all models, a score to one
      answer. Mean, spread, passed and discrimination leave out programs that are not told the question.</p>`;
}

export { CasesByModel };
