// One case of one result: what was asked, what came, what became of it, and why it scored what it scored.
import { chosenCases, isScored, Status, wordingHint } from "./cases.js";
import { wordDifference } from "./difference.js";
import { Heading, html, useLayoutEffect } from "./dom.js";
import { fixed, known, seconds, signed, whole } from "./format.js";
import { isForPage } from "./keys.js";
import { address, go } from "./route.js";
import { Unknown } from "./scenario.js";
import { answerOf, detailOf, overview, questionOf, resultOf, useLoaded } from "./store.js";
import { Copied } from "./take.js";
import { answerLayer, Marked, visible } from "./text.js";

/** @import { ScoredCase } from "./cases.js" */
/** @import { Query } from "./route.js" */
/** @import { Answered, Asked, Case, View } from "./store.js" */
/** @import { Span } from "./text.js" */

/** @param {{ row: Case, question: Asked }} props */
function QuestionView({ row, question }) {
  const { command, contract, exit_code, instruction } = question;
  return html`<section class="card">
    <h2>Instruction</h2>
    <p class="instruction">${visible(instruction ?? "unknown")}</p>
    ${command && html`<p class="instruction"><small>Command: <code>${visible(command)}</code></small></p>`}
    ${typeof exit_code === "number" && html`<p><small>Exit code: ${exit_code}</small></p>`}
    ${contract && html`<p><small>Contract (${row.intent}): ${contract}</small></p>`}
  </section>`;
}

/** @param {{ row: Case }} props */
function Chips({ row }) {
  const chips = [row.domain, row.tool, row.intent, row.family, row.difficulty, row.output_mode].filter(Boolean);
  return html`<p class="chips">${chips.map((chip) => html`<span>${chip}</span>`)}</p>`;
}

/**
 * What an answer does with a statement, by how a reason begins; nothing for other reasons.
 * @param {string} reason
 */
const remarkOf = (reason) => overview.remarks.find(({ prefix }) => reason.startsWith(prefix))?.kind;

/** @param {{ row: ScoredCase, answer: Answered, name: string, hint: string }} props */
function ComponentRow({ row, answer, name, hint }) {
  /** @param {View} view */
  const reasons = (view) => view.reasons[name] ?? [];
  /** @param {View} view */
  const list = (view) =>
    html`<ul class="reasons">${reasons(view).map(
      (reason) => html`<li class=${remarkOf(reason)}>${visible(reason)}</li>`,
    )}</ul>`;
  const { raw, recovered } = answer;
  const score = row.recovered.parts[name];
  const same = JSON.stringify(reasons(recovered)) === JSON.stringify(reasons(raw));
  return html`<tr>
    <th scope="row" title=${hint}>${name}</th>
    <td class="number">${fixed(score, 3)}</td>
    <td class="number">${fixed(row.raw.parts[name], 3)}</td>
    <td>
      ${reasons(recovered).length > 0 ? list(recovered) : score === 1 ? "full marks" : "–"}
      ${
        !same &&
        html`<details><summary>raw answer</summary>${reasons(raw).length > 0 ? list(raw) : "nothing to say"}</details>`
      }
    </td>
  </tr>`;
}

/** @param {{ row: ScoredCase, answer: Answered }} props */
function Components({ row, answer }) {
  const { raw, recovered } = row;
  const flags = recovered.flags ?? [];
  return html`<${Copied} label="Components"><table class="plain components">
    <caption>Score and its parts</caption>
    <thead><tr>
      <th scope="col">component</th><th scope="col" class="number">recovered</th><th scope="col" class="number">raw</th>
      <th scope="col">why</th>
    </tr></thead>
    <tbody>
      ${overview.components.map(
        ({ name, hint }) => html`<${ComponentRow} row=${row} answer=${answer} name=${name} hint=${hint} />`,
      )}
      <tr class="total"><th scope="row">case score</th>
        <td class="number">${fixed(recovered.score, 3)}</td>
        <td class="number">${fixed(raw.score, 3)}</td>
        <td>lift ${signed(100 * (recovered.score - raw.score))}; <${Status} row=${row} />${
          flags.length > 0 && `: ${flags.join(", ")}`
        }${row.failure && ` (generation: ${row.failure})`}</td></tr>
    </tbody>
  </table><//>`;
}

/** @param {{ anchor: string, found: boolean }} props */
function Anchor({ anchor, found }) {
  const [state, mark] = found ? ["found", "✓"] : ["missed", "✗"];
  return html`<li class=${state}><i aria-hidden="true">${mark}</i
    ><span class="hidden">${state}: </span>${visible(anchor)}</li>`;
}

/** @param {{ question: Asked, answer: Answered }} props */
function Anchors({ question, answer }) {
  const { anchors } = question;
  const { missing, ungrounded } = answer.recovered;
  if (!anchors) {
    const list = missing.map((anchor) => html`<${Anchor} anchor=${anchor} found=${false} />`);
    return missing.length > 0 && html`<section><h2>Missing</h2><ul class="anchors">${list}</ul></section>`;
  }
  if (!anchors.length) return html`<p>This case has no anchors.</p>`;
  const missed = new Set(missing);
  return html`<section>
    <h2>Anchors: ${anchors.length - missed.size} of ${anchors.length} found</h2>
    <ul class="anchors">
      ${anchors.map((anchor) => html`<${Anchor} anchor=${anchor} found=${!missed.has(anchor)} />`)}
    </ul>
    ${
      ungrounded.length > 0 &&
      html`<p><b>Not in the input:</b> ${ungrounded.map(
        (fact, index) => html`${index > 0 && ", "}<code>${visible(fact)}</code>`,
      )}</p>`
    }
  </section>`;
}

/**
 * Anchors where they stand in the raw input, as found or missed by this answer.
 * @param {Asked} question
 * @param {Answered} answer
 * @returns {Span[]}
 */
function inputLayer({ anchors, places }, answer) {
  const missed = new Set(answer.recovered.missing);
  return (places ?? []).map(({ start, end, anchor }) =>
    missed.has(anchors?.[anchor] ?? "")
      ? { start, end, kind: "lost", title: "missed" }
      : { start, end, kind: "kept", title: "found" },
  );
}

/**
 * Gold, with what an answer lacks of it, and what a right answer says.
 * @param {{ question: Asked, row: Case | undefined, missing?: Span[] }} props
 */
function Gold({ question: { gold, says = [] }, row, missing = [] }) {
  return html`<section class="card"><h2>Gold</h2>${
    gold === null
      ? html`<p class="empty">unknown</p>`
      : html`<${Marked} text=${gold} label="Gold" layers=${[missing]} />`
  }${
    says.length > 0 &&
    html`<h3>Statements</h3><ul class="statements">${says.map((words) => html`<li>${visible(words)}</li>`)}</ul>`
  }${row?.by_wording && html`<p class="legend">~ ${wordingHint}.</p>`}</section>`;
}

/**
 * An answer, with what it has beyond gold.
 * @param {{ title: string, view: View, extra?: Span[] }} props
 */
function AnswerView({ title, view, extra = [] }) {
  const layers = [answerLayer(view.spans), extra];
  return html`<section class="card"><h2>${title}</h2>
    <${Marked} text=${view.output} label=${title} layers=${layers} /></section>`;
}

/** @param {{ row: Case, question: Asked, answer: Answered }} props */
function Answers({ row, question, answer }) {
  const { gold } = question;
  const difference = wordDifference(gold, answer.recovered.output);
  return html`<div class="answers">
      <${Gold} question=${question} row=${row} missing=${difference?.missing} />
      <${AnswerView} title="Recovered" view=${answer.recovered} extra=${difference?.extra} />
      <${AnswerView} title="Raw" view=${answer.raw} />
    </div>
    <p class="legend"><mark class="missing">in gold only</mark> <mark class="extra">in the answer only</mark>${" "}
      <mark class="moved">in both, at another place</mark>${" "}
      <mark class="wrapper gone">wrapper that was removed</mark> <mark class="thought">leaked thought</mark>
      ${!difference && gold !== null && " The texts are too long to compare word by word."}</p>`;
}

/** @param {number | undefined} value */
const inSeconds = (value) => known(value) && `${seconds(value)} s`;

/** @param {number | undefined} value */
const counted = (value) => Boolean(value) && whole(value);

/** @param {number | undefined} bytes */
const megabytes = (bytes) => Boolean(bytes) && `${whole((bytes ?? 0) / 1e6)} MB`;

/** @param {{ row: Case, answer: Answered }} props */
function Times({ row, answer }) {
  const facts = Object.entries({
    generation: inSeconds(row.total_ms),
    reading: inSeconds(row.prefill_ms),
    writing: inSeconds(row.decode_ms),
    "with retries and waiting": inSeconds(row.elapsed_ms),
    attempts: row.attempts,
    "prompt tokens": counted(row.prompt_tokens),
    "answer tokens, the model's": counted(row.answer_tokens),
    "reasoning tokens": counted(row.reasoning_tokens),
    "input and answer tokens, one tokenizer for all":
      row.input_tokens && `${whole(row.input_tokens)} → ${whole(row.recovered?.tokens)}`,
    ended: row.ended,
    "characters of input left out": counted(row.cut_chars),
    cost: row.cost_usd && `$${row.cost_usd}`,
    model: answer.served_by && visible(answer.served_by),
    memory: megabytes(row.memory_bytes),
    "GPU memory": megabytes(row.gpu_bytes),
  }).filter(([, value]) => value);
  return html`<section><h2>Times and tokens</h2>
    <dl class="pairs">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
}

/**
 * Steps through the cases as the table of the result has them, by links and by keys.
 * @param {{ cases: { case_id: string }[], index: number, to: (caseId: string) => string, label?: string }} props
 */
function Steps({ cases, index, to, label = "Cases" }) {
  const before = cases[index - 1];
  const after = cases[index + 1];
  useLayoutEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      if (!isForPage(event)) return;
      const target = /** @type {Element} */ (event.target);
      const back = event.key === "k" || event.key === "ArrowLeft";
      const on = event.key === "j" || event.key === "ArrowRight";
      // Arrows belong to what scrolls sideways.
      const scrolls = target.scrollWidth > target.clientWidth && target !== document.body;
      if (event.key.startsWith("Arrow") && scrolls) return;
      const next = back ? before : on ? after : undefined;
      if (next) go(to(next.case_id));
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  return html`<nav class="steps" aria-label=${label}>
    ${
      before
        ? html`<a rel="prev" href=${to(before.case_id)} title="key: k or left arrow">← ${visible(before.case_id)}</a>`
        : html`<span></span>`
    }
    <span>${index + 1} of ${cases.length}</span>
    ${
      after
        ? html`<a rel="next" href=${to(after.case_id)} title="key: j or right arrow">${visible(after.case_id)} →</a>`
        : html`<span></span>`
    }
  </nav>`;
}

/** @param {{ answer: Answered }} props */
function NotScored({ answer }) {
  return html`<section class="card"><h2>Not scored</h2><p>${visible(answer.error ?? "unknown")}</p>${
    answer.unscored && html`<${Marked} text=${answer.unscored} label="Answer that could not be scored" />`
  }</section>`;
}

/** @param {{ reasoning: string }} props */
function Reasoning({ reasoning }) {
  const length = whole(reasoning.length);
  return html`<details class="card">
    <summary>Reasoning, which the service kept apart from the answer (${length} characters)</summary>
    <${Marked} text=${reasoning} label="Reasoning" />
  </details>`;
}

/** @param {{ question: Asked, answer: Answered }} props */
function RawInput({ question, answer }) {
  if (question.raw_input === null) {
    return html`<section class="card"><h2>Raw input</h2>
      <p class="empty">unknown: the file does not hold it</p></section>`;
  }
  const layers = [inputLayer(question, answer)];
  return html`<section class="card"><h2>Raw input</h2>
    <p class="legend"><mark class="kept">anchor, found in the answer</mark> <mark class="lost">anchor, missed</mark></p>
    <${Marked} text=${question.raw_input} label="Raw input" layers=${layers} />
  </section>`;
}

/** @param {{ id: string, caseId: string, query: Query }} props */
function CaseView({ id, caseId, query }) {
  const result = resultOf(id);
  const loaded = useLoaded(async () => {
    const detail = result && (await detailOf(result));
    const row = detail?.byId.get(caseId);
    return { detail, row, question: row && (await questionOf(row)) };
  }, [id, caseId]);
  if (!result) return html`<${Unknown} id=${id} />`;
  const head = (/** @type {string} */ title) =>
    html`<p class="crumbs"><a href=${address("scenario", [result.id], query)}>${result.label}</a></p>
    <${Heading} title=${title} />`;
  if (!loaded) return html`${head(caseId)}<p role="status">Unpacking…</p>`;
  const { detail, row, question } = loaded;
  if (!detail || !row || !question) return html`<${Unknown} id=${`${id} / ${caseId}`} />`;
  const answer = answerOf(question, result);
  const chosen = chosenCases(detail, result.id, query);
  const cases = chosen.includes(row) ? chosen : detail.cases;
  const to = (/** @type {string} */ next) => address("case", [result.id, next], query);
  return html`${head(row.title || caseId)}
    <p class="lead"><code>${visible(caseId)}</code></p>
    <${Steps} cases=${cases} index=${cases.indexOf(row)} to=${to} />
    <${Chips} row=${row} />
    <${QuestionView} row=${row} question=${question} />
    ${
      isScored(row)
        ? html`<${Answers} row=${row} question=${question} answer=${answer} />
          <${Components} row=${row} answer=${answer} />
          <${Anchors} question=${question} answer=${answer} />`
        : html`<${NotScored} answer=${answer} />`
    }
    ${answer.reasoning && html`<${Reasoning} reasoning=${answer.reasoning} />`}
    <${Times} row=${row} answer=${answer} />
    <${RawInput} question=${question} answer=${answer} />`;
}

export { AnswerView, CaseView, Chips, Gold, QuestionView, Steps };
