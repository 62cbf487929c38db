// One case of one scenario: what was asked, what came, what became of it, and why it scored what it scored.
import { Heading, html, useLayoutEffect } from "./dom.js";
import { fixed, seconds, signed, whole, words } from "./format.js";
import { answerOf, detailOf, questionOf, resultOf, useLoaded } from "./store.js";
import { Status, chosenCases, isScored } from "./cases.js";
import { COMPONENTS, Unknown } from "./scenario.js";
import { Marked, markLayer, visible, wordDifference } from "./text.js";
import { address, go } from "./route.js";
import { isForPage } from "./keys.js";

function Question({ question }) {
  return html`<section class="card">
    <h2>Instruction</h2>
    <p class="instruction">${visible(question.instruction ?? "unknown")}</p>
    ${question.contract && html`<p><small>Contract (${words(question.intent)}): ${question.contract}</small></p>`}
  </section>`;
}

function Chips({ row }) {
  const chips = [row.tool, row.intent, row.family, row.difficulty, row.output_mode].filter(Boolean);
  return html`<p class="chips">${chips.map((chip) => html`<span>${words(chip)}</span>`)}</p>`;
}

function Components({ row, answer }) {
  const part = (view, name) => (answer[view].reasons[name] ?? []).map((reason) => html`<li>${visible(reason)}</li>`);
  const same = (name) => JSON.stringify(answer.recovered.reasons[name] ?? []) === JSON.stringify(answer.raw.reasons[name] ?? []);
  return html`<div class="scroll" role="region" aria-label="Components" tabindex="0"><table class="plain components">
    <caption>Score and its parts</caption>
    <thead><tr><th scope="col">component</th><th scope="col" class="number">recovered</th><th scope="col" class="number">raw</th><th scope="col">why</th></tr></thead>
    <tbody>
      ${COMPONENTS.map(
        ([name, , field, hint]) => html`<tr>
          <th scope="row" title=${hint}>${name}</th>
          <td class="number">${fixed(row[field], 3)}</td>
          <td class="number">${fixed(row[`raw_${field}`], 3)}</td>
          <td>
            ${part("recovered", name).length > 0 ? html`<ul>${part("recovered", name)}</ul>` : row[field] === 1 ? "full marks" : "–"}
            ${!same(name) && html`<details><summary>raw answer</summary>${part("raw", name).length ? html`<ul>${part("raw", name)}</ul>` : "nothing to say"}</details>`}
          </td>
        </tr>`,
      )}
      <tr class="total"><th scope="row">case score</th><td class="number">${fixed(row.case_score, 3)}</td><td class="number">${fixed(row.raw_case_score, 3)}</td>
        <td>lift ${signed(100 * (row.case_score - row.raw_case_score))}; <${Status} row=${row} />${(row.validation_flags ?? []).length > 0 && `: ${row.validation_flags.map(words).join(", ")}`}${row.failure_reason && ` (generation: ${words(row.failure_reason)})`}</td></tr>
    </tbody>
  </table></div>`;
}

function Anchors({ question, answer }) {
  if (!question.anchors) return answer.recovered.missing.length > 0 && html`<section><h2>Missing</h2><ul class="anchors">${answer.recovered.missing.map((anchor) => html`<li class="missed"><i aria-hidden="true">✗</i><span class="hidden">missed: </span>${visible(anchor)}</li>`)}</ul></section>`;
  if (!question.anchors.length) return html`<p>This case has no anchors.</p>`;
  const missed = new Set(answer.recovered.missing);
  const ungrounded = answer.recovered.ungrounded;
  return html`<section>
    <h2>Anchors: ${question.anchors.length - missed.size} of ${question.anchors.length} found</h2>
    <ul class="anchors">
      ${question.anchors.map((anchor) => html`<li class=${missed.has(anchor) ? "missed" : "found"}><i aria-hidden="true">${missed.has(anchor) ? "✗" : "✓"}</i><span class="hidden">${missed.has(anchor) ? "missed" : "found"}: </span>${visible(anchor)}</li>`)}
    </ul>
    ${ungrounded.length > 0 && html`<p><b>Not in the output:</b> ${ungrounded.map((fact, index) => html`${index > 0 && ", "}<code>${visible(fact)}</code>`)}</p>`}
  </section>`;
}

// Anchors where they stand in the raw input, as found or missed by this answer.
const inputLayer = (question, answer) => {
  const missed = new Set(answer.recovered.missing);
  return (question.places ?? []).map(([start, end, index]) => [start, end, missed.has(question.anchors[index]) ? "lost|missed" : "kept|found"]);
};

// Gold with what an answer lacks of it, and the answer with what it has beyond.
function Gold({ text, difference }) {
  return html`<section class="card"><h2>Gold</h2>${text === null ? html`<p class="empty">unknown</p>` : html`<${Marked} text=${text} label="Gold" layers=${[difference?.missing ?? []]} />`}</section>`;
}

function Answer({ title, text, marks, difference }) {
  return html`<section class="card"><h2>${title}</h2><${Marked} text=${text} label=${title} layers=${[markLayer(marks), difference?.extra ?? []]} /></section>`;
}

function Answers({ question, answer }) {
  const gold = question.expected_output;
  const difference = wordDifference(gold, answer.recovered.output);
  return html`<div class="answers">
      <${Gold} text=${gold} difference=${difference} />
      <${Answer} title="Recovered" text=${answer.recovered.output} marks=${answer.marks} difference=${difference} />
      <${Answer} title="Raw" text=${answer.raw.output} marks=${answer.raw_marks} />
    </div>
    <p class="legend"><mark class="missing">in gold only</mark> <mark class="extra">in the answer only</mark> <mark class="wrapper gone">wrapper that was removed</mark> <mark class="thought">leaked thought</mark>
      ${!difference && gold !== null && " The texts are too long to compare word by word."}</p>`;
}

function Times({ row, answer }) {
  const shown = [
    ["generation", `${seconds(row.inference_ms)} s`],
    ["reading", row.prefill_ms === undefined || row.prefill_ms === null ? null : `${seconds(row.prefill_ms)} s`],
    ["writing", row.decode_ms === undefined || row.decode_ms === null ? null : `${seconds(row.decode_ms)} s`],
    ["with retries and waiting", row.elapsed_ms === undefined || row.elapsed_ms === null ? null : `${seconds(row.elapsed_ms)} s`],
    ["attempts", row.attempts],
    ["prompt tokens", row.prompt_tokens && whole(row.prompt_tokens)],
    ["answer tokens, the model's", row.completion_tokens && whole(row.completion_tokens)],
    ["reasoning tokens", row.reasoning_tokens],
    ["input and answer tokens, one tokenizer for all", row.input_tokens && `${whole(row.input_tokens)} → ${whole(row.output_tokens)}`],
    ["ended", words(row.finish_reason)],
    ["characters of input left out", row.input_chars_cut || null],
    ["cost", row.cost_usd && `$${row.cost_usd}`],
    ["model", answer.model && visible(answer.model)],
    ["memory", row.cpu_rss_bytes && `${whole(row.cpu_rss_bytes / 1e6)} MB`],
  ].filter(([, value]) => value !== null && value !== undefined && value !== 0);
  return html`<section><h2>Times and tokens</h2><dl class="pairs">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

// Steps through the cases as the scenario's table has them, by links and by keys.
function Steps({ cases, index, to }) {
  const before = cases[index - 1];
  const after = cases[index + 1];
  useLayoutEffect(() => {
    const pressed = (event) => {
      if (!isForPage(event)) return;
      const back = event.key === "k" || event.key === "ArrowLeft";
      const on = event.key === "j" || event.key === "ArrowRight";
      // Arrows belong to what scrolls sideways.
      if (event.key.startsWith("Arrow") && event.target.scrollWidth > event.target.clientWidth && event.target !== document.body) return;
      const next = back ? before : on ? after : undefined;
      if (next) go(to(next.case_id));
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  return html`<nav class="steps" aria-label="Cases">
    ${before ? html`<a rel="prev" href=${to(before.case_id)} title="key: k or left arrow">← ${before.case_id}</a>` : html`<span></span>`}
    <span>${index + 1} of ${cases.length}</span>
    ${after ? html`<a rel="next" href=${to(after.case_id)} title="key: j or right arrow">${after.case_id} →</a>` : html`<span></span>`}
  </nav>`;
}

function CaseView({ id, caseId, query }) {
  const result = resultOf(id);
  const loaded = useLoaded(async () => {
    const detail = result && (await detailOf(result));
    const row = detail?.byId.get(caseId);
    return { detail, row, question: row && (await questionOf(row)) };
  }, [id, caseId]);
  if (!result) return html`<${Unknown} id=${id} />`;
  const head = (title) => html`<p class="crumbs"><a href=${address("scenario", [id], query)}>${id}</a></p>
    <${Heading} title=${title} />`;
  if (!loaded) return html`${head(caseId)}<p role="status">Unpacking…</p>`;
  const { detail, row, question } = loaded;
  if (!row) return html`<${Unknown} id=${`${id} / ${caseId}`} />`;
  const answer = answerOf(question, result);
  const chosen = chosenCases(detail, id, query);
  const index = chosen.indexOf(row);
  const cases = index < 0 ? detail.cases : chosen;
  return html`${head(row.title || caseId)}
    <p class="lead"><code>${visible(caseId)}</code></p>
    <${Steps} cases=${cases} index=${cases.indexOf(row)} to=${(next) => address("case", [id, next], query)} />
    <${Chips} row=${row} />
    <${Question} question=${question} />
    ${!isScored(row)
      ? html`<section class="card"><h2>Not scored</h2><p>${visible(answer.error ?? "unknown")}</p>${answer.unscored && html`<${Marked} text=${answer.unscored} label="Answer that could not be scored" />`}</section>`
      : html`<${Answers} question=${question} answer=${answer} />
          <${Components} row=${row} answer=${answer} />
          <${Anchors} question=${question} answer=${answer} />`}
    ${answer.reasoning && html`<details class="card"><summary>Reasoning, told apart from the answer by the service (${whole(answer.reasoning.length)} characters)</summary><${Marked} text=${answer.reasoning} label="Reasoning" /></details>`}
    <${Times} row=${row} answer=${answer} />
    <section class="card"><h2>Raw input</h2>
      ${question.raw_input === null ? html`<p class="empty">unknown: the file does not hold it</p>` : html`<p class="legend"><mark class="kept">anchor, found in the answer</mark> <mark class="lost">anchor, missed</mark></p><${Marked} text=${question.raw_input} label="Raw input" layers=${[inputLayer(question, answer)]} />`}
    </section>`;
}

export { Answer, CaseView, Chips, Gold, Question };
