// Pictures: the same specifications that are drawn into files, with the rows that the filters leave.
import { Heading, html, useEffect, useRef, useState } from "./dom.js";
import { fixed } from "./format.js";
import { pack, packedText, results, summary, useLoaded } from "./store.js";
import { ResultFilters, chosenResults, isRival } from "./board.js";
import { address, changeQuery, go } from "./route.js";
import { useTheme } from "./theme.js";

const MOST_ROWS = 60;
// More marks than this are drawn on a canvas.
const MOST_ELEMENTS = 1500;

// The library is a script like the others: its hash is in the policy, so it may run once it is unpacked.
let library;
function loadVega() {
  library ??= packedText("vega").then(
    (text) =>
      new Promise((done, failed) => {
        const script = document.createElement("script");
        script.type = "module";
        script.textContent = text;
        addEventListener("vega", () => done(window.vegaEmbed), { once: true });
        addEventListener("securitypolicyviolation", () => failed(new Error("the chart library may not run here")), { once: true });
        document.head.append(script);
      }),
  );
  return library;
}

// On a phone, names must not take the room of what they name.
const narrowed = (config, width) => (width > 560 ? config : { ...config, axis: { ...config.axis, labelLimit: 110 } });

function DataTable({ rows }) {
  const names = Object.keys(rows[0] ?? {}).filter((name) => !["key", "order", "row", "column", "dimension"].includes(name));
  const shown = (value) => (typeof value === "number" ? fixed(value, Number.isInteger(value) ? 0 : 3) : (value ?? "–"));
  return html`<div class="scroll" role="region" aria-label="figures of the picture" tabindex="0">
    <table>
      <thead><tr>${names.map((name) => html`<th scope="col">${name.replaceAll("_", " ")}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${names.map((name) => html`<td class=${typeof row[name] === "number" ? "number" : ""}>${shown(row[name])}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

// One picture: `name` of a specification, `data` its data sets, `title` a heading.
function Picture({ name, data, title, note }) {
  const target = useRef();
  const theme = useTheme();
  const charts = useLoaded(() => pack("charts"), [name]);
  const [table, setTable] = useState(false);
  const [fault, setFault] = useState("");
  const specification = charts?.specifications[name];
  const rows = Object.values(data)[0] ?? [];
  const text = JSON.stringify(data);
  useEffect(() => {
    if (!specification || !rows.length) return undefined;
    // An axis over nothing has no end.
    const layer = specification.layer?.filter(({ data: own }) => !own?.name || data[own.name].length);
    // A height by rows and a width by the page do not go together in Vega-Lite, so rows are counted here.
    const { step } = specification.height;
    const height = step ? step * new Set(rows.map((row) => row.row ?? row.label)).size : specification.height;
    let view;
    let wanted = true;
    loadVega()
      .then((embed) =>
        embed(target.current, { ...specification, layer, description: undefined, height, datasets: JSON.parse(text) }, {
          actions: false,
          ast: true,
          config: narrowed(charts.specifications.theme[theme], target.current.clientWidth),
          defaultStyle: false,
          mode: "vega-lite",
          renderer: rows.length > MOST_ELEMENTS ? "canvas" : "svg",
          tooltip: { disableDefaultStyle: true },
        }),
      )
      .then((drawn) => {
        view = drawn;
        if (!wanted) return view.finalize();
        view.view.addEventListener("click", (event, item) => {
          const row = results.find((result) => result.key === item?.datum?.key);
          if (row) go(address("scenario", [row.id]));
        });
        return undefined;
      })
      .catch((error) => setFault(String(error)));
    return () => {
      wanted = false;
      view?.finalize();
    };
  }, [specification, theme, text]);
  return html`<figure class="picture">
    <figcaption><h2>${title}</h2><p>${specification?.description} ${note}</p></figcaption>
    ${fault && html`<p class="fault">${fault}</p>`}
    ${charts && !rows.length
      ? html`<p class="empty">Unknown: the result files shown here do not say it.</p>`
      : html`<div ref=${target} class="drawing" role="img" aria-label=${`${title}. ${specification?.description ?? ""} The figures stand in the table below.`}></div>`}
    ${rows.length > 0 &&
    html`<details onToggle=${(event) => setTable(event.target.open)}><summary>Figures of this picture</summary>${table && html`<${DataTable} rows=${rows} />`}</details>`}
  </figure>`;
}

function Pictures({ query }) {
  const charts = useLoaded(() => pack("charts"), []);
  const rivals = chosenResults(query).filter((row) => isRival(row) || query.all === "1");
  const chosen = rivals.length ? rivals : chosenResults(query);
  const shown = new Map(chosen.slice(0, MOST_ROWS).map((row) => [row.key, row]));
  const note = chosen.length > shown.size ? `The best ${shown.size} of ${chosen.length}; filter to see others.` : "";
  const of = (name, keep = shown) => charts?.rows[name].filter((row) => keep.has(row.key)) ?? [];
  const measured = new Map(chosen.filter((row) => isRival(row) || !rivals.some(isRival)).map((row) => [row.key, row]));
  const dimensions = [...new Set((charts?.rows.cells ?? []).map((cell) => cell.dimension))];
  const by = dimensions.includes(query.by) ? query.by : (dimensions[0] ?? "intent");
  const cells = of("cells").filter((cell) => cell.dimension === by);
  const points = of("points", measured);
  const ready = charts !== undefined;
  return html`<${Heading} title="Pictures" />
    <${ResultFilters} query=${query} />
    ${!ready && html`<p role="status">Unpacking…</p>`}
    ${ready &&
    html`<${Picture} name="score-latency" title="Score against latency" data=${{ points: points.filter((row) => row.seconds > 0), lines: summary.lines }} />
      <${Picture} name="lift" title="Recovery lift against raw score" data=${{ points: points.filter((row) => row.lift !== null) }} />
      ${dimensions.length > 0 &&
      html`<div class="choices" role="group" aria-label="heat map by">
        <span>Heat map by</span>
        ${dimensions.map((name) => html`<button type="button" aria-pressed=${name === by} onClick=${() => changeQuery({ by: name })}>${name.replaceAll("_", " ")}</button>`)}
      </div>`}
      <${Picture} key=${by} name="heat" title=${`Scores by ${by.replaceAll("_", " ")}`} data=${{ cells }} note=${note} />
      <${Picture} name="verdicts" title="Verdicts" data=${{ verdicts: of("verdicts") }} note=${note} />
      <${Picture} name="case-scores" title="Case scores" data=${{ bins: of("bins"), tails: of("tails") }} note=${note} />
      <${Picture} name="latency" title="Latency" data=${{ times: of("times").filter((row) => row.p5 > 0) }} note=${note} />`}`;
}

export { Picture, Pictures };
