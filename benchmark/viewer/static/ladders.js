// Models at several quantizations: what each loses against the biggest.
import { Flags } from "./board.js";
import { Heading, html } from "./dom.js";
import { figureText, fixed, interval, signed, UNKNOWN } from "./format.js";
import { address } from "./route.js";
import { figureOf, overview, results } from "./store.js";
import { Choice, sortRows, Table } from "./table.js";

/** @import { LadderInfo, LadderRung, PageBoardRow } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

const byKey = new Map(results.map((row) => [row.key, row]));
const TONES = /** @type {Record<string, string>} */ ({ better: "good", worse: "bad" });
const LATENCY = "latency";
const MEMORY = "peak memory";

/** @param {LadderRung} rung */
const resultOf = ({ key }) => /** @type {PageBoardRow} */ (byKey.get(key));

/**
 * A difference beside those of the other rungs; the line in the middle is none.
 * @param {{ rung: LadderRung, most: number }} props
 */
function Loss({ rung: { gain = 0, gain_interval: ends }, most }) {
  const at = (/** @type {number} */ value) => 50 + (50 * value) / most;
  return html`<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="track" width="100" height="12" />
    <line class="line" x1="50" x2="50" y1="0" y2="12" />
    ${ends && html`<line class="whisker" x1=${at(ends.low)} x2=${at(ends.high)} y1="6" y2="6" />`}
    <line class="point" x1=${at(Number(gain))} x2=${at(Number(gain))} y1="1" y2="11" />
  </svg>`;
}

/**
 * Columns of what any of the rungs tells.
 * @param {LadderRung[]} rungs
 */
function columnsOf([top, ...others]) {
  const ends = others.flatMap(({ gain, gain_interval: each }) => [gain ?? 0, each?.low ?? 0, each?.high ?? 0]);
  const most = Math.max(1, ...ends.map(Math.abs));
  const latency = figureOf(LATENCY);
  /** @type {Column<LadderRung>[]} */
  const columns = [
    {
      key: "quantization",
      title: "quantization",
      hint: "of the weights: from the header of their file, else from its name",
      kind: "",
      value: ({ quantization }) => quantization,
      cell: ({ quantization }) => html`<b>${quantization}</b>`,
    },
    {
      key: "result",
      title: "result",
      kind: "name",
      value: (rung) => resultOf(rung).label,
      cell: (rung) => {
        const row = resultOf(rung);
        return html`<a href=${address("scenario", [row.id])}>${row.label}</a> <${Flags} row=${row} />`;
      },
    },
    {
      key: "gain",
      title: `against ${top.quantization}`,
      hint: "quality core minus that of the biggest, on the same cases, with its 95% interval",
      kind: "number",
      value: ({ gain }) => gain,
      cell: (rung) =>
        rung === top || rung.gain === undefined || rung.gain === null
          ? UNKNOWN
          : html`<span class="score"><${Loss} rung=${rung} most=${most} /><b>${signed(rung.gain)}</b>${" "}
              <small>${interval(rung.gain_interval, signed)}</small></span>`,
    },
    {
      key: "verdict",
      title: "verdict",
      hint: "leads to the comparison, case by case",
      kind: "",
      value: ({ verdict }) => verdict,
      cell: (rung) =>
        rung.verdict
          ? html`<a class=${TONES[rung.verdict]} href=${address("compare", [resultOf(top).id, resultOf(rung).id])}
              >${rung.verdict}</a>`
          : UNKNOWN,
    },
    {
      key: "core",
      title: "quality core",
      hint: "0 to 100: 80% mean and 20% 10th percentile of the case scores",
      kind: "number",
      value: ({ score }) => score,
      cell: ({ score, interval: range }) =>
        html`${fixed(score)} <small>${interval(range, (end) => fixed(end))}</small>`,
    },
    {
      key: "file",
      title: "file",
      hint: "size of the file of weights",
      kind: "number",
      value: (rung) => resultOf(rung).about_model?.figures?.file,
      cell: ({ size }) => size || UNKNOWN,
    },
    {
      key: MEMORY,
      title: MEMORY,
      hint: "the most that an answer took",
      kind: "number",
      value: (rung) => resultOf(rung).about_model?.figures?.[MEMORY],
      cell: (rung) => resultOf(rung).about_model?.texts?.[MEMORY] ?? UNKNOWN,
    },
    {
      key: LATENCY,
      title: latency.title,
      hint: latency.hint,
      kind: "number",
      value: (rung) => resultOf(rung).figures[LATENCY],
      cell: (rung) => figureText(latency, resultOf(rung).figures[LATENCY]),
    },
  ];
  return columns.filter(({ value }) => [top, ...others].some((rung) => value(rung) !== undefined));
}

/** @param {{ ladder: LadderInfo, sort: string }} props */
function Rungs({ ladder, sort }) {
  const columns = columnsOf(ladder.rungs);
  return html`<h2>${ladder.model}</h2>
    <p class="lead">${ladder.words}</p>
    ${overview.boards.length > 1 && html`<p>${ladder.about}</p>`}
    <${Table}
      label=${`Quantizations of ${ladder.model}: ${ladder.about}`}
      columns=${columns}
      rows=${sortRows(ladder.rungs, columns, sort)}
      sort=${sort}
      keyOf=${(/** @type {LadderRung} */ { key }) => String(key)}
    />
    ${ladder.notes.length > 0 && html`<ul class="notes">${ladder.notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}

/** @param {{ query: Query }} props */
function Ladders({ query }) {
  const all = overview.ladders ?? [];
  const models = [...new Set(all.map(({ model }) => model))];
  const shown = all.filter(({ model }) => !models.includes(query.model) || model === query.model);
  return html`<${Heading} title="Quantizations" />
    ${
      models.length > 1 &&
      html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <${Choice} label="Model" name="model" value=${query.model} options=${models} /></form>`
    }
    ${shown.map((ladder) => html`<${Rungs} ladder=${ladder} sort=${query.sort ?? ""} />`)}
    <p class="legend">${overview.ladder_words}</p>`;
}

export { Ladders };
