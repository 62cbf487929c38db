// Pictures: the same specifications that are drawn into files, with the rows that the filters leave.
import { boardOf, chosenResults, isRival, ResultFilters } from "./board.js";
import { Heading, html, useEffect, useRef, useState } from "./dom.js";
import { fixed, UNKNOWN } from "./format.js";
import { address, go, pushQuery } from "./route.js";
import { chartPack, overview, packedText, results, useLoaded } from "./store.js";
import { Choice } from "./table.js";
import { Saves, SHARPNESS, Take } from "./take.js";
import { ground, useTheme } from "./theme.js";

/** @import { PageBoardRow, ChartRows, Point, ReferenceLine, StressChart, TableColumn } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @typedef {Record<string, unknown> & { label: string, row?: string, track?: string }} Row */
/** @typedef {Partial<ChartRows & { lines: ReferenceLine[] }>} Data */
/** @typedef {Record<string, { field?: string } | null>} Encoding */
/** @typedef {{ name?: string, data?: { name?: string }, encoding?: Encoding }} Layer */
/**
 * What is read here of a Vega-Lite specification and its configuration.
 * @typedef {object} Specification
 * @property {string} description
 * @property {number | { step: number }} height
 * @property {Layer[]} [layer]
 * @typedef {{ axis?: object, legend?: object }} Config
 */

const MOST_ROWS = 60;
// More marks than this are drawn on a canvas.
const MOST_ELEMENTS = 1500;

/**
 * The library is a script like the others: its hash is in the policy, so it may run once it is unpacked.
 * @type {Promise<Window["vegaEmbed"]> | undefined}
 */
let library;
function loadVega() {
  library ??= packedText("vega").then(
    (text) =>
      new Promise((done, failed) => {
        const script = document.createElement("script");
        const refused = () => failed(new Error("the chart library may not run here"));
        script.type = "module";
        script.textContent = text;
        addEventListener("vega", () => done(window.vegaEmbed), { once: true });
        addEventListener("securitypolicyviolation", refused, { once: true });
        document.head.append(script);
      }),
  );
  return library;
}

// Points have their names in a list below where these would cover each other.
const isNarrow = () => innerWidth < 700;

/**
 * On a phone, names must not take the room of what they name.
 * @param {Config} config
 * @param {number} width
 */
const narrowed = (config, width) =>
  width > 560
    ? config
    : {
        ...config,
        axis: { ...config.axis, labelLimit: 110 },
        legend: { ...config.legend, columns: 3, layout: { top: { anchor: "start", direction: "vertical" } } },
      };

/** @param {{ columns: TableColumn[], rows: Record<string, unknown>[] }} props */
function DataTable({ columns, rows }) {
  const shown = (/** @type {unknown} */ value) =>
    typeof value === "number" ? fixed(value, Number.isInteger(value) ? 0 : 3) : (value ?? UNKNOWN);
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  return html`<div class="scroll" role="region" aria-label="figures of the picture" tabindex="0" ref=${region}>
    <table>
      <thead><tr>${columns.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${rows.map(
        (row) =>
          html`<tr>${columns.map(
            ({ field }) => html`<td class=${typeof row[field] === "number" ? "number" : ""}>${shown(row[field])}</td>`,
          )}</tr>`,
      )}</tbody>
    </table>
  </div><${Take} region=${region} />`;
}

/**
 * Draws a picture into an element, with more properties of its specification.
 * @typedef {(element: HTMLElement, more: object) => Promise<Drawn>} Draw
 */

/**
 * A text in lines of at most 110 characters, for pictures.
 * @param {string} text
 */
const wrapped = (text) => text.match(/.{1,110}(?:\s|$)/g)?.map((line) => line.trim()) ?? [];

/** @param {{ redraw: { current: Draw | null }, title: string, about: string }} props `about` stands below the title */
function ChartSaves({ redraw, title, about }) {
  /**
   * A file has the title and the ground of the page, which the picture leaves to what is around it.
   * @param {(view: Drawn["view"]) => Promise<string>} draw
   */
  const whole = async (draw) => {
    if (!redraw.current) return "";
    const color = getComputedStyle(document.body).color;
    const above = {
      text: title,
      subtitle: wrapped(about),
      anchor: "start",
      fontSize: 16,
      subtitlePadding: 6,
      offset: 12,
    };
    const { view, finalize } = await redraw.current(document.createElement("div"), {
      title: { ...above, color, subtitleColor: color },
      background: ground(),
      padding: 12,
    });
    try {
      return await draw(view);
    } finally {
      finalize();
    }
  };
  return html`<${Saves}
    title=${title}
    asSvg=${() => whole((view) => view.toSVG())}
    asPng=${() => whole((view) => view.toImageURL("png", SHARPNESS))}
  />`;
}

/**
 * One picture.
 * @param {{ name: string, data: Data | StressChart["data"], title: string, note?: string, below?: unknown,
 *   own?: StressChart, board?: string, unnamed?: string }} props
 *   `name` is that of a specification, `data` its data sets; the first is what the picture is about. `own` brings a
 *   specification that no other picture has.
 */
function Picture({ name, data, title, note = "", below, own, board = "", unnamed = "" }) {
  const target = useRef(/** @type {HTMLElement | null} */ (null));
  const redraw = useRef(/** @type {Draw | null} */ (null));
  const theme = useTheme();
  const charts = useLoaded(chartPack, [name]);
  const [isOpen, setOpen] = useState(false);
  const [fault, setFault] = useState("");
  const specification = /** @type {Specification | undefined} */ (
    /** @type {unknown} */ (own?.specification ?? charts?.specifications[name])
  );
  const [[main, rows]] = /** @type {[string, Row[]][]} */ (Object.entries(data));
  const text = JSON.stringify(data);
  useEffect(() => {
    const element = target.current;
    if (!charts || !specification || !element || !rows.length) return undefined;
    // An axis over nothing has no end.
    const layer = specification.layer?.filter(
      (each) => hasFigures(each, rows, JSON.parse(text)) && (each.name !== "name" || !isNarrow()),
    );
    const height = drawnHeight(specification, rows);
    // The legend names the tracks that are there, each in its own colour.
    const params = [{ name: "tracks", value: [...new Set(rows.map((row) => ("track" in row ? row.track : "")))] }];
    let finalize = () => {};
    let wanted = true;
    const draw = async (/** @type {HTMLElement} */ target, /** @type {object} */ more) =>
      (await loadVega())(
        target,
        { ...specification, layer, description: undefined, height, params, datasets: JSON.parse(text), ...more },
        {
          actions: false,
          ast: true,
          config: narrowed(charts.themes[theme], element.clientWidth),
          defaultStyle: false,
          mode: "vega-lite",
          renderer: rows.length > MOST_ELEMENTS ? "canvas" : "svg",
          tooltip: { disableDefaultStyle: true },
        },
      );
    draw(element, {})
      .then((drawn) => {
        finalize = drawn.finalize;
        if (!wanted) return drawn.finalize();
        // What is drawn outside the page has no container to take its width from.
        redraw.current = (target, more) => draw(target, { width: drawn.view.width(), ...more });
        drawn.view.addEventListener("click", (_event, item) => {
          const row = results.find((result) => result.key === item?.datum?.key);
          if (row) go(address("scenario", [row.id]));
        });
        return undefined;
      })
      .catch((error) => setFault(String(error)));
    return () => {
      wanted = false;
      finalize();
    };
  }, [charts, specification, theme, text]);
  const about = [board && `${board}.`, specification?.description, note, unnamed].filter(Boolean).join(" ");
  const label = `${title}. ${specification?.description ?? ""} The figures stand in the table below.`;
  const toggled = (/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.target).open);
  return html`<figure class="picture">
    <figcaption><h2>${title}</h2><p>${specification?.description} ${note}</p></figcaption>
    ${fault && html`<p class="fault">${fault}</p>`}
    ${
      charts && !rows.length
        ? html`<p class="empty">Unknown: the result files shown here do not say it.</p>`
        : html`<div ref=${target} class="drawing" role="img" aria-label=${label}></div>`
    }
    ${charts && rows.length > 0 && html`<${ChartSaves} redraw=${redraw} title=${title} about=${about} />`}
    ${below}
    ${
      charts &&
      rows.length > 0 &&
      html`<details onToggle=${toggled}><summary>Figures of this picture</summary>
        ${isOpen && html`<${DataTable} columns=${own?.columns ?? charts.tables[main]} rows=${rows} />`}</details>`
    }
  </figure>`;
}

/** @param {Point[]} points */
const withoutName = (points) => points.filter(({ name }) => !name || isNarrow());

/**
 * The results whose points have no name in the picture.
 * @param {{ points: Point[] }} props
 */
function Unnamed({ points }) {
  const left = withoutName(points);
  if (!left.length) return null;
  const links = left.map(({ key, label }, index) => {
    const row = results.find((result) => result.key === key);
    return html`${index > 0 && ", "}${row ? html`<a href=${address("scenario", [row.id])}>${label}</a>` : label}`;
  });
  return html`<p class="legend unnamed">Points without a name, for lack of room: ${links}.</p>`;
}

/**
 * Whether a layer has something to draw: rows, and of each of its fields a value in some of them. A layer that is named
 * like a field is of the rows that have it.
 * @param {Layer} layer
 * @param {object[]} main rows of what has no data of its own
 * @param {Record<string, object[]>} data
 */
function hasFigures({ name, data: own, encoding = {} }, main, data) {
  if (own && !own.name) return true;
  const rows = /** @type {Record<string, unknown>[]} */ (own?.name ? data[own.name] : main);
  const fields = Object.values(encoding).flatMap((channel) => (channel?.field ? [channel.field] : []));
  if (name && !rows.some((row) => row[name])) return false;
  return rows.length > 0 && fields.every((field) => rows.some((row) => !(field in row) || row[field] !== null));
}

/**
 * A height by rows and a width by the page do not go together in Vega-Lite, so rows are counted here.
 * @param {Specification} specification
 * @param {{ label: string, row?: string }[]} rows
 */
function drawnHeight({ height }, rows) {
  if (typeof height === "number") return height;
  return height.step * new Set(rows.map((row) => row.row ?? row.label)).size;
}

/** @param {{ dimensions: string[], chosen: string }} props */
function Dimensions({ dimensions, chosen }) {
  return html`<div class="choices" role="group" aria-label="heat map by">
    <span>Heat map by</span>
    ${dimensions.map(
      (name) => html`<button type="button" aria-pressed=${name === chosen} onClick=${() => pushQuery({ by: name })}
        >${name}</button>`,
    )}
  </div>`;
}

/**
 * The board that is drawn: what scores mean differs between boards, so no picture spans two.
 * @param {Query} query
 * @param {PageBoardRow[]} rows those that filters leave
 */
const chosenBoard = (query, rows) =>
  overview.boards.find(({ about }) => about === query.board) ??
  overview.boards.find((board) => rows.some((row) => isRival(row) && boardOf(row) === board)) ??
  overview.boards[0];

/** @param {{ query: Query }} props */
function Pictures({ query }) {
  const charts = useLoaded(chartPack, []);
  const filtered = chosenResults(query);
  const board = chosenBoard(query, filtered);
  const left = filtered.filter((row) => boardOf(row) === board);
  const wanted = left.filter((row) => isRival(row) || query.all === "1");
  const chosen = wanted.length ? wanted : left;
  const shown = new Set(chosen.slice(0, MOST_ROWS).map((row) => row.key));
  const note = chosen.length > shown.size ? `The best ${shown.size} of ${chosen.length}; filter to see others.` : "";
  const measured = new Set(
    chosen.filter((/** @type {PageBoardRow} */ row) => isRival(row) || !wanted.some(isRival)).map((row) => row.key),
  );
  const head = html`<${Heading} title="Charts" /><${ResultFilters} query=${query} />
    ${
      overview.boards.length > 1 &&
      html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <${Choice}
          label="Board"
          name="board"
          value=${board.about}
          options=${overview.boards.map(({ about }) => about)}
          all=${false}
        /></form>
      <p class="legend">One board at a time: other cases, or another scorer, make other scores.</p>`
    }`;
  if (!charts) return html`${head}<p role="status">Unpacking…</p>`;
  /**
   * @template {{ key: number }} Row
   * @param {Row[]} rows
   */
  const of = (rows, keys = shown) => rows.filter((row) => keys.has(row.key));
  const { rows } = charts;
  const dimensions = [...new Set(rows.cells.map((cell) => cell.dimension))];
  const by = dimensions.includes(query.by) ? query.by : (dimensions[0] ?? "intent");
  const points = of(rows.points, measured);
  const { lines, about } = board;
  const timed = points.filter((row) => (row.seconds ?? 0) > 0);
  const unnamed = withoutName(timed).map(({ label }) => label);
  const lifted = points.filter((row) => row.lift !== null && row.raw !== null);
  const cells = of(rows.cells).filter((cell) => cell.dimension === by);
  const times = of(rows.times).filter((row) => row.p5 > 0);
  const scores = { bins: of(rows.bins), tails: of(rows.tails) };
  return html`${head}
    <${Picture}
      name="score-latency"
      title="Quality against latency"
      board=${about}
      unnamed=${unnamed.length > 0 ? `Points without a name: ${unnamed.join(", ")}.` : ""}
      data=${{ points: timed, lines }}
      below=${html`<${Unnamed} points=${timed} />`}
    />
    <${Picture} name="lift" title="Recovery lift against raw score" data=${{ points: lifted }} board=${about} />
    ${dimensions.length > 0 && html`<${Dimensions} dimensions=${dimensions} chosen=${by} />`}
    <${Picture} key=${by} name="heat" title=${`Scores by ${by}`} data=${{ cells }} note=${note} board=${about} />
    <${Picture} name="verdicts" title="Verdicts" data=${{ verdicts: of(rows.verdicts) }} note=${note} board=${about} />
    <${Picture} name="case-scores" title="Case scores" data=${scores} note=${note} board=${about} />
    <${Picture} name="latency" title="Latency" data=${{ times }} note=${note} board=${about} />`;
}

export { Picture, Pictures };
