// One scenario: what it is good at, why its answers were rejected, what it ran on, and all its cases.
import { Heading, html } from "./dom.js";
import { fixed, interval, percent, plural, seconds, share, signed, whole, words } from "./format.js";
import { detailOf, pack, resultOf, useLoaded } from "./store.js";
import { Marks } from "./board.js";
import { CASE_SORT, caseColumns, chosenCases } from "./cases.js";
import { Picture } from "./pictures.js";
import { address } from "./route.js";
import { Choice, Filter, Table } from "./table.js";

const COMPONENTS = [
  ["preserve", "avg_exact_preservation_ratio", "exact_preservation_ratio", "share of the anchors that survived, to the letter"],
  ["quality", "avg_summary_quality_ratio", "summary_quality_ratio", "facts and wording against gold"],
  ["format", "avg_format_adherence_score", "format_adherence_score", "is it in the asked format"],
  ["brevity", "avg_brevity_ratio", "brevity_ratio", "is it short"],
  ["instruction", "avg_instruction_following_score", "instruction_following_score", "does it keep the rules of the instruction"],
];

function Unknown({ id }) {
  return html`<${Heading} title="Not in this page" />
    <p>${id} is none of the results or cases of this page. <a href=${address("board")}>To the leaderboard</a></p>`;
}

function Profile({ summary }) {
  return html`<table class="plain">
    <caption>Profile: mean of each component, 0 to 1</caption>
    <thead><tr><th scope="col">component</th><th scope="col" class="number">recovered</th><th scope="col" class="number">raw</th><td class="wide"></td></tr></thead>
    <tbody>
      ${COMPONENTS.map(
        ([name, field, , hint]) => html`<tr>
          <th scope="row" title=${hint}>${name}</th>
          <td class="number">${fixed(summary[field], 3)}</td>
          <td class="number">${fixed(summary.raw_view?.[field], 3)}</td>
          <td class="wide"><svg class="bar" viewBox="0 0 1 12" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="1" height="12" /><rect class="fill" y="2" height="8" width=${summary[field] ?? 0} /></svg></td>
        </tr>`,
      )}
      <tr><th scope="row" title="the score is 0.8 times the mean case score and 0.2 times its 10th percentile">case score, mean</th><td class="number">${fixed(summary.avg_case_score, 3)}</td><td class="number">${fixed(summary.raw_view?.avg_case_score, 3)}</td><td></td></tr>
      <tr><th scope="row">case score, 10th percentile</th><td class="number">${fixed(summary.p10_case_score, 3)}</td><td class="number">${fixed(summary.raw_view?.p10_case_score, 3)}</td><td></td></tr>
      <tr><th scope="row">latency factor</th><td class="number">${fixed(summary.latency_factor, 3)}</td><td></td><td></td></tr>
    </tbody>
  </table>`;
}

function Reasons({ detail, row, query }) {
  const counts = new Map();
  for (const one of detail.cases) {
    if (one.validation_status !== "rejected") continue;
    for (const flag of one.validation_flags ?? []) counts.set(flag, (counts.get(flag) ?? 0) + 1);
  }
  const failures = Object.entries(row.summary.model_failure_counts ?? {});
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const link = (text) => address("scenario", [row.id], { ...query, q: words(text), verdict: "" });
  return html`<table class="plain">
    <caption>Why answers were rejected${failures.length ? ", and how generation ended badly" : ""}</caption>
    <thead><tr><th scope="col">reason</th><th scope="col" class="number">cases</th></tr></thead>
    <tbody>
      ${sorted.map(([flag, count]) => html`<tr><th scope="row"><a href=${link(flag)}>${words(flag)}</a></th><td class="number">${count}</td></tr>`)}
      ${failures.map(([reason, count]) => html`<tr><th scope="row"><a href=${link(reason)}>${words(reason)}</a> <span class="flag">generation</span></th><td class="number">${count}</td></tr>`)}
      ${!sorted.length && !failures.length && html`<tr><td colspan="2">none</td></tr>`}
    </tbody>
  </table>`;
}

// A nested record as lines of name and value.
function lines(value, path = []) {
  if (value === null || value === undefined || value === "") return [];
  if (Array.isArray(value)) return value.length ? [[path.join(" "), value.map((item) => (typeof item === "object" ? JSON.stringify(item) : item)).join(", ")]] : [];
  if (typeof value === "object") return Object.entries(value).flatMap(([name, inner]) => lines(inner, [...path, words(name)]));
  return [[path.join(" "), String(value)]];
}

function Identity({ detail }) {
  const { case_ids: _, ...run } = detail.run ?? {};
  const groups = [["scenario", detail.scenario], ["run", run], ["loading", detail.warmup], ["file", { path: detail.file }]];
  return html`<details>
    <summary>Identity and environment</summary>
    ${groups.map(([name, value]) => {
      const shown = lines(value);
      return shown.length > 0 && html`<h3>${name}</h3><dl>${shown.map(([key, text]) => html`<div><dt>${key}</dt><dd>${text}</dd></div>`)}</dl>`;
    })}
    ${!detail.run && html`<p class="empty">A file of the published layout says nothing about its run.</p>`}
  </details>`;
}

function Figures({ row }) {
  const { summary } = row;
  const tiles = [
    ["recovered", fixed(summary.final_score), interval(...(summary.intervals?.final_score ?? []))],
    ["raw", fixed(summary.raw_view?.final_score), interval(...(summary.raw_view?.intervals?.final_score ?? []))],
    ["lift", signed(row.lift), interval(...(summary.intervals?.recovery_lift ?? []), signed)],
    ["norm", fixed(summary.normalised_score), summary.reference ? `0 is ${summary.reference.floor} (${fixed(summary.reference.floor_score)})` : ""],
    ["coverage", share(summary.coverage), summary.planned_count === undefined ? plural(summary.case_count, "case") : `${whole(summary.case_count)} of ${plural(summary.planned_count, "case")}`],
    ["latency", `${seconds(summary.avg_inference_ms)} s`, `p95 ${seconds(summary.p95_inference_ms)} s`],
    ["tokens/s", fixed(summary.decode_tokens_per_s, 0), summary.prefill_tokens_per_s ? `reading ${fixed(summary.prefill_tokens_per_s, 0)}` : ""],
    ["saved", percent(summary.tokens_saved_share), "of the input, without losing an anchor"],
  ];
  return html`<dl class="tiles">${tiles.map(([name, value, more]) => html`<div><dt>${name}</dt><dd><b>${value}</b><small>${more}</small></dd></div>`)}</dl>`;
}

function Breakdowns({ row }) {
  const charts = useLoaded(() => pack("charts"), []);
  const own = (name) => charts.rows[name].filter((one) => one.key === row.key);
  return charts && row.summary.case_count > 0 && html`<${Picture} name="histogram" title="Case scores" data=${{ bins: own("bins"), tails: own("tails") }} />`;
}

function Scenario({ id, query }) {
  const row = resultOf(id);
  const detail = useLoaded(() => (row ? detailOf(row) : Promise.resolve(null)), [id]);
  if (!row) return html`<${Unknown} id=${id} />`;
  const head = html`<${Heading} title=${row.id} /><p class="marks"><${Marks} row=${row} /></p>
    <p class="lead">${[row.model, row.track, row.phase && `phase ${row.phase}`, row.timestamp].filter(Boolean).join(" · ")}</p>
    ${row.notes.length > 0 && html`<ul class="notes">${row.notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    <${Figures} row=${row} />`;
  if (!detail) return html`${head}<p role="status">Unpacking…</p>`;
  const shown = chosenCases(detail, id, query);
  const columns = caseColumns(id, query).filter((column) => column.kind !== "" || detail.cases.some((one) => column.value(one) !== undefined && column.value(one) !== -1));
  const distinct = (value) => [...new Set(detail.cases.map(value).filter(Boolean))].sort();
  return html`${head}
    <p class="actions"><a class="button" href=${address("compare", [id])}>Compare with…</a></p>
    <div class="columns">
      <${Profile} summary=${row.summary} />
      <${Reasons} detail=${detail} row=${row} query=${query} />
    </div>
    <${Breakdowns} row=${row} />
    <${Identity} detail=${detail} />
    <h2>Cases</h2>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
      <${Choice} label="Intent" name="intent" value=${query.intent} options=${distinct((one) => one.intent)} />
      <${Choice} label="Verdict" name="verdict" value=${query.verdict} options=${distinct((one) => one.validation_status ?? one.outcome)} />
    </form>
    <p role="status">${shown.length === detail.cases.length ? plural(shown.length, "case") : `${shown.length} of ${plural(detail.cases.length, "case")}`}</p>
    <${Table} label="Cases" columns=${columns} rows=${shown} sort=${query.sort ?? CASE_SORT} keyOf=${(one) => one.case_id} />`;
}

export { COMPONENTS, Scenario, Unknown };
