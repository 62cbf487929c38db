// The leaderboard: who is best, how sure that is, and what else is to be known of each.
import { Heading, html, useState } from "./dom.js";
import { dollars, fixed, interval, plural, seconds, share, signed, times, whole } from "./format.js";
import { results, summary } from "./store.js";
import { address, changeQuery } from "./route.js";
import { Choice, Filter, Table, holds, sortRows } from "./table.js";

const MOST_CHOSEN = 4;

// Gold, and the best that needs no model: lines to measure by.
const lineKeys = summary.lines.map((line) => line.key);
const isLine = (row) => lineKeys.includes(row.key);

function Bar({ row }) {
  const { final_score: score, intervals } = row.summary;
  if (score === undefined) return null;
  const [low, high] = intervals?.final_score ?? [null, null];
  const own = row.summary.reference;
  const lines = own ? [own.floor_score, own.ceiling_score] : summary.lines.map((line) => line.score);
  return html`<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="track" width="100" height="12" />
    ${!isLine(row) && html`<rect class="fill" y="3" width=${score} height="6" />`}
    ${lines.map((score) => html`<line class="line" x1=${score} x2=${score} y1="0" y2="12" />`)}
    ${low !== null && html`<line class="whisker" x1=${low} x2=${high} y1="6" y2="6" />`}
    <line class="point" x1=${score} x2=${score} y1="1" y2="11" />
  </svg>`;
}

function Verdicts({ row }) {
  const { accepted_count: accepted, soft_accepted_count: soft, rejected_count: rejected } = row.summary;
  if (accepted === undefined) return "–";
  return html`<span class="verdicts"
    ><b class="good">${accepted}</b>/<b class="fair">${soft}</b>/<b class="bad">${rejected}</b></span
  >`;
}

function Marks({ row }) {
  const found = [];
  if (row.complete === false) found.push(["incomplete", "some planned cases have no answer that could be scored"]);
  if (row.latency_clean === false && !row.reference) found.push(["disturbed", "other processes used the machine: latency is not clean"]);
  if (row.marks.includes("!")) found.push(["below floor", "not better than the best compressor without a model, beyond chance"]);
  if (row.latency_clean === null) found.push(["published layout", "other cases, other scorer; what the file does not say is a dash"]);
  return found.map(([word, title]) => html` <span class=${`flag ${word.split(" ")[0]}`} title=${title}>${word}</span>`);
}

function Name({ row, chosen, toggle }) {
  return html`<span class="pick">
    ${!isLine(row) &&
    html`<input
      type="checkbox"
      aria-label=${`compare ${row.id}`}
      checked=${chosen.includes(row.id)}
      disabled=${!row.summary.case_count || (!chosen.includes(row.id) && chosen.length >= MOST_CHOSEN)}
      onChange=${() => toggle(row.id)}
    />`}
    <span>
      <a href=${address("scenario", [row.id])}>${row.id}</a>${isLine(row) &&
      html` <span class="flag line">${row.key === lineKeys[0] ? "ceiling" : "floor"}</span>`}
      <${Marks} row=${row} />
    </span>
  </span>`;
}

const figure = (name) => (row) => row.summary[name];
const number = (key, title, hint, value, cell) => ({ key, title, hint, kind: "number", value, cell: (row) => cell(value(row), row) });

function columns(chosen, toggle) {
  const all = [
    { key: "rank", title: "rank", hint: "1 + the number of results that are better beyond chance; = ties", kind: "", value: (row) => parseInt(row.rank, 10) || null, cell: (row) => row.rank },
    { key: "scenario", title: "scenario", hint: "model, device and settings", kind: "name", value: (row) => row.id, cell: (row) => html`<${Name} row=${row} chosen=${chosen} toggle=${toggle} />` },
    { key: "track", title: "track", hint: "cpu: llama.cpp, gpu: Transformers, remote: a service", kind: "aside", value: (row) => row.track, cell: (row) => row.track },
    number("score", "recovered", "the headline, 0 to 100, after wrappers were removed, with its 95 % interval", figure("final_score"), (value, row) => html`<span class="score"><${Bar} row=${row} /><b>${fixed(value)}</b><small>${interval(...(row.summary.intervals?.final_score ?? []))}</small></span>`),
    number("raw", "raw", "the score without removing wrappers", (row) => row.summary.raw_view?.final_score, fixed1),
    number("lift", "lift", "recovered minus raw", (row) => row.lift, signed1),
    number("norm", "norm", "0 is the best compressor without a model, 100 is gold", figure("normalised_score"), fixed1),
    number("quality", "quality core", "the score without latency", (row) => scaled(row.summary.quality_core), fixed1),
    number("coverage", "coverage", "share of the planned cases that have an answer that could be scored", figure("coverage"), (value, row) => html`<span title=${plural(row.summary.case_count ?? 0, "case")}>${share(value)}</span>`),
    { key: "verdicts", title: "acc/soft/rej", hint: "answers accepted, accepted with flaws, rejected; sorts by accepted", kind: "number", value: figure("accepted_count"), cell: (row) => html`<${Verdicts} row=${row} />` },
    number("thought", "thought", "share of the answers that is leaked reasoning", figure("avg_thought_leakage_density"), (value) => fixed(value, 2)),
    number("latency", "avg s", "mean generation time; no loading, no waiting", figure("avg_inference_ms"), (value, row) => html`<span class=${row.latency_clean === false ? "unsure" : undefined}>${seconds(value)}</span>`),
    number("p95", "p95 s", "95th percentile of the generation time", figure("p95_inference_ms"), seconds1),
    number("speed", "tokens/s", "answer tokens per second, by the engine's own clock", figure("decode_tokens_per_s"), (value) => fixed(value, 0)),
    number("ratio", "ratio", "input tokens per answer token over usable answers", figure("compression_ratio"), (value) => times(value)),
    number("cost", "cost $", "what the service charged", figure("cost_usd"), (value) => dollars(value)),
  ];
  // A column that nobody fills only takes room.
  return all.filter((column) => ["rank", "verdicts"].includes(column.key) || results.some((row) => column.value(row) !== null && column.value(row) !== undefined));
}

const fixed1 = (value) => fixed(value);
const signed1 = (value) => signed(value);
const seconds1 = (value) => seconds(value);
const scaled = (value) => (value === undefined || value === null ? value : 100 * value);

// The results that the filters leave; all views of many results share them.
function chosenResults(query) {
  return results.filter(
    (row) =>
      (!row.reference || isLine(row) || query.all === "1") &&
      (!query.track || row.track === query.track || isLine(row)) &&
      (!query.phase || row.phase === query.phase || isLine(row)) &&
      (holds(query.q, row.id, row.model, row.phase, ...row.notes) || isLine(row)),
  );
}

function ResultFilters({ query }) {
  const distinct = (name) => [...new Set(results.filter((row) => !row.reference).map((row) => row[name]).filter(Boolean))].sort();
  return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
    <${Filter} label="Find" value=${query.q} />
    <${Choice} label="Track" name="track" value=${query.track} options=${distinct("track")} />
    <${Choice} label="Phase" name="phase" value=${query.phase} options=${distinct("phase")} />
    ${results.some((row) => row.reference && !isLine(row)) &&
    html`<label class="check"
      ><input type="checkbox" checked=${query.all === "1"} onChange=${(event) => changeQuery({ all: event.target.checked ? "1" : "" })} />
      all reference rows</label
    >`}
  </form>`;
}

const isRival = (row) => !row.reference;

function Headline() {
  const rivals = results.filter((row) => isRival(row) && row.summary.case_count);
  const best = results.filter((row) => summary.best.includes(row.key));
  if (!results.some(isRival)) return html`<p class="lead">Reference rows only: no model has been measured here yet.</p>`;
  if (!best.length) return html`<p class="lead">None of the results has an answer that could be scored.</p>`;
  const names = best.slice(0, 5).map((row, index) => html`${index > 0 && ", "}<a href=${address("scenario", [row.id])}>${row.id}</a>`);
  const useful = rivals.some((row) => !row.marks.includes("!"));
  return html`<p class="lead">
    ${best.length > 1 ? "Best, and not to be told apart: " : "Best: "}${names}${best.length > 5 && ` and ${best.length - 5} more`}.
    ${!useful && " None of the models beats the best compressor without a model beyond chance."}
  </p>`;
}

function Board({ query }) {
  const [chosen, setChosen] = useState([]);
  const toggle = (id) => setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  const all = columns(chosen, toggle);
  const shown = chosenResults(query);
  const sort = query.sort ?? "-score";
  const rivals = shown.filter(isRival);
  const notes = shown.filter((row) => row.notes.length && !row.reference);
  return html`<${Heading} title="Leaderboard" />
    <${Headline} />
    <${ResultFilters} query=${query} />
    <div class="beside">
      <p role="status">${rivals.length === results.filter(isRival).length ? plural(rivals.length, "result") : `${rivals.length} of ${plural(results.filter(isRival).length, "result")}`}</p>
      <a
        class=${`button ${chosen.length < 2 ? "off" : ""}`}
        aria-disabled=${chosen.length < 2}
        href=${chosen.length < 2 ? undefined : address("compare", chosen)}
        >Compare ${chosen.length ? `${chosen.length} chosen` : "(choose two to four)"}</a
      >
    </div>
    <${Table} label="Leaderboard" columns=${all} rows=${sortRows(shown, all, sort)} sort=${sort} keyOf=${(row) => row.id} classOf=${(row) => (isLine(row) ? "line" : row.reference ? "reference" : undefined)} />
    <p class="legend">Scores are 0 to 100 with 95 % intervals. ${(summary.lines.length > 0 || results.some((row) => row.summary.reference)) && "The dashed lines in the bars are gold and the best compressor without a model on the same cases. "}Ranks with = cannot be told from at least one other (paired bootstrap, corrected for all pairs).</p>
    ${(notes.length > 0 || summary.notes.length > 0) &&
    html`<section><h2>To be known before comparing</h2>
      <ul class="notes">
        ${summary.notes.map((note) => html`<li>${note}</li>`)}
        ${notes.map((row) => html`<li><a href=${address("scenario", [row.id])}>${row.id}</a>: ${row.notes.join("; ")}</li>`)}
      </ul></section>`}
    ${summary.skipped.length > 0 &&
    html`<section><h2>Left out</h2>
      <ul class="notes">
        ${summary.skipped.map((error) => html`<li>${error}</li>`)}
      </ul></section>`}
    <p class="legend">${whole(results.reduce((sum, row) => sum + (row.summary.case_count ?? 0), 0))} answers; built ${summary.built}.</p>`;
}

export { Board, MOST_CHOSEN, Marks, ResultFilters, chosenResults, isRival };
