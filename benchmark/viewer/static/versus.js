// Two to four results on the cases they share: differences with their uncertainty, then case by case.
import { Heading, html } from "./dom.js";
import { fixed, interval, pValue, plural, signed, words } from "./format.js";
import { answerOf, detailOf, pack, positionOf, questionOf, resultOf, results, useLoaded } from "./store.js";
import { MOST_CHOSEN, isRival } from "./board.js";
import { Answer, Chips, Gold, Question } from "./case.js";
import { Status, isScored } from "./cases.js";
import { Unknown } from "./scenario.js";
import { visible, wordDifference } from "./text.js";
import { address, changeQuery, go } from "./route.js";
import { Choice, Filter, Table, holds, sortRows } from "./table.js";

const LETTERS = "ABCD";

// The comparison of `to` against `from`, whichever way round the page holds it; null when it holds none.
function comparison(pairs, from, to) {
  const [i, j] = [positionOf(from), positionOf(to)];
  const found = pairs?.[`${Math.min(i, j)},${Math.max(i, j)}`];
  if (!found || i < j) return found ?? null;
  const turned = ([a, b, value, low, high, p, sure]) => [b, a, -value, high === null ? null : -high, low === null ? null : -low, p, sure];
  const entries = (record, turn) => Object.fromEntries(Object.entries(record).map(([name, row]) => [name, turn(row)]));
  return {
    ...found,
    only_a: found.only_b,
    only_b: found.only_a,
    wins: found.losses,
    losses: found.wins,
    figures: entries(found.figures, turned),
    intents: entries(found.intents, ([count, ...row]) => [count, ...turned(row)]),
  };
}

function Choose({ ids }) {
  const rest = results.filter((row) => row.summary.case_count && !ids.includes(row.id));
  return html`<form class="filters" onSubmit=${(event) => event.preventDefault()}>
    ${ids.map(
      (id, index) => html`<span class="chosen"><b>${LETTERS[index]}</b> <a href=${address("scenario", [id])}>${id}</a>
        <button type="button" aria-label=${`remove ${id}`} onClick=${() => go(address("compare", ids.filter((other) => other !== id)))}>×</button></span>`,
    )}
    ${ids.length < MOST_CHOSEN &&
    html`<label class="field"><span>Add</span>
      <select value="" onChange=${(event) => go(address("compare", [...ids, event.target.value]))}>
        <option value="">choose…</option>
        ${[...rest.filter(isRival), ...rest.filter((row) => !isRival(row))].map((row) => html`<option key=${row.id} value=${row.id}>${row.id}</option>`)}
      </select></label>`}
  </form>`;
}

function Difference({ row: [, , value, low, high, p, sure] }) {
  if (low === null) return html`<td class="number">${signed(value)}</td><td class="number">–</td><td class="number">–</td><td>too few cases</td>`;
  return html`<td class="number">${signed(value)}</td><td class="number">${interval(low, high, signed)}</td><td class="number">${pValue(p)}</td>
    <td>${!sure ? "even" : html`<b class=${value > 0 ? "good" : "bad"}>${value > 0 ? "better" : "worse"}</b>`}</td>`;
}

function Against({ base, ids, pairs }) {
  return ids.slice(1).map((id, index) => {
    const found = comparison(pairs, base, id);
    const letter = LETTERS[index + 1];
    if (!found) return html`<p>${id} and ${base} share no answered case.</p>`;
    const left = found.only_a + found.only_b;
    return html`<section class="card">
      <h2>${letter} against A</h2>
      <p>${letter} is <b>${id}</b>, A is <b>${base}</b>. ${plural(found.shared, "shared case")}${left > 0 && `; ${left} that only one of them answered are left out`}.${" "}
        ${letter} wins <b>${found.wins}</b>, loses <b>${found.losses}</b>, ties <b>${found.ties}</b> (less than a point apart).</p>
      <div class="scroll" role="region" aria-label=${`${letter} against A`} tabindex="0"><table class="plain">
        <thead><tr><th scope="col">score</th><th scope="col" class="number">cases</th><th scope="col" class="number">A</th><th scope="col" class="number">${letter}</th><th scope="col" class="number">${letter} − A</th><th scope="col" class="number">95 % interval</th><th scope="col" class="number">p</th><th scope="col">${letter} is</th></tr></thead>
        <tbody>
          ${Object.entries(found.figures).map(([name, row]) => html`<tr><th scope="row">${name}</th><td class="number">${found.shared}</td><td class="number">${fixed(row[0])}</td><td class="number">${fixed(row[1])}</td><${Difference} row=${row} /></tr>`)}
        </tbody>
        ${Object.keys(found.intents).length > 0 &&
        html`<tbody>
          <tr><th colspan="8" scope="rowgroup" class="group">mean case score by intent (p corrected for their number)</th></tr>
          ${Object.entries(found.intents).map(([name, [count, ...row]]) => html`<tr><th scope="row">${words(name)}</th><td class="number">${count}</td><td class="number">${fixed(row[0])}</td><td class="number">${fixed(row[1])}</td><${Difference} row=${row} /></tr>`)}
        </tbody>`}
      </table></div>
    </section>`;
  });
}

// The cases all of them answered; `flip` where some passed and some did not, `gap` the widest difference.
function sharedCases(details, ids) {
  const [first, ...others] = details;
  return first.cases.flatMap((row) => {
    const rows = [row, ...others.map((detail) => detail.byId.get(row.case_id))];
    if (!rows.every(isScored)) return [];
    const scores = rows.map((one) => 100 * one.case_score);
    const passed = rows.map((one) => one.passed);
    return [{ ...row, rows, scores, passed, ids, gap: Math.max(...scores) - Math.min(...scores), flip: passed.some(Boolean) && !passed.every(Boolean) }];
  });
}

function caseColumns(ids) {
  return [
    { key: "case", title: "case", kind: "name", value: (row) => row.case_id, cell: (row) => html`<a href=${address("compare", ids, { case: row.case_id })}>${visible(row.case_id)}</a>` },
    { key: "intent", title: "intent", kind: "", value: (row) => row.intent, cell: (row) => words(row.intent) },
    { key: "flip", title: "passed by", hint: "usable, with every anchor; flips come first", kind: "number", value: (row) => (row.flip ? 1000 : 0) + row.gap, cell: (row) => html`<span class=${row.flip ? "flip" : ""}>${row.passed.map((passed, index) => (passed ? LETTERS[index] : "")).join(" ").trim() || "none"}</span>` },
    ...ids.map((_, index) => ({ key: LETTERS[index], title: LETTERS[index], hint: ids[index], kind: "number", value: (row) => row.scores[index], cell: (row) => html`<span class=${row.passed[index] ? "passed" : ""}>${fixed(row.scores[index])}</span>` })),
    ...ids.slice(1).map((_, index) => ({ key: `${LETTERS[index + 1]}A`, title: `${LETTERS[index + 1]} − A`, kind: "number", value: (row) => row.scores[index + 1] - row.scores[0], cell: (row) => signed(row.scores[index + 1] - row.scores[0]) })),
  ];
}

function CaseByCase({ details, ids, query }) {
  const all = sharedCases(details, ids);
  const columns = caseColumns(ids);
  const shown = all.filter((row) => (!query.intent || row.intent === query.intent) && (query.flips !== "1" || row.flip) && holds(query.q, row.case_id, row.title, row.tool));
  const flips = all.filter((row) => row.flip).length;
  return html`<h2>Case by case</h2>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <${Filter} label="Find" value=${query.q} />
      <${Choice} label="Intent" name="intent" value=${query.intent} options=${[...new Set(all.map((row) => row.intent).filter(Boolean))].sort()} />
      <label class="check"><input type="checkbox" checked=${query.flips === "1"} onChange=${(event) => changeQuery({ flips: event.target.checked ? "1" : "" })} /> flips only</label>
    </form>
    <p role="status">${shown.length} of ${plural(all.length, "shared case")}, ${plural(flips, "flip")} (passed by some, not by all)</p>
    <${Table} label="Case by case" columns=${columns} rows=${sortRows(shown, columns, query.sort ?? "-flip")} sort=${query.sort ?? "-flip"} keyOf=${(row) => row.case_id} />`;
}

function SideBySide({ details, ids, caseId }) {
  const rows = details.map((detail) => detail.byId.get(caseId));
  const questions = useLoaded(() => Promise.all(rows.map((row) => row && questionOf(row))), [caseId, ids.join("\n")]);
  if (!rows[0]) return html`<${Unknown} id=${caseId} />`;
  const head = html`<p class="crumbs"><a href=${address("compare", ids)}>Head to head</a></p>
    <${Heading} title=${rows[0].title || caseId} />
    <p class="lead"><code>${visible(caseId)}</code></p>
    <${Chips} row=${rows[0]} />`;
  if (!questions) return html`${head}<p role="status">Unpacking…</p>`;
  const gold = questions[0].expected_output;
  return html`${head}
    <${Question} question=${questions[0]} />
    <div class="answers">
      <${Gold} text=${gold} />
      ${ids.map((id, index) => {
        const [row, question] = [rows[index], questions[index]];
        if (!isScored(row)) return html`<section class="card"><h2>${LETTERS[index]}</h2><p class="empty">no scored answer</p></section>`;
        const answer = answerOf(question, resultOf(id));
        const anchors = question.anchors && `${question.anchors.length - answer.recovered.missing.length} of ${plural(question.anchors.length, "anchor")}`;
        return html`<div>
          <${Answer} title=${`${LETTERS[index]} ${fixed(100 * row.case_score)}`} text=${answer.recovered.output} marks=${answer.marks} difference=${wordDifference(question.expected_output, answer.recovered.output)} />
          <p><${Status} row=${row} /> ${anchors} <a href=${address("case", [id, caseId])}>${id}</a></p>
          ${row.body !== rows[0].body && html`<p class="fault">${LETTERS[index]} was asked something else: its corpus has another state of this case.</p>`}
        </div>`;
      })}
    </div>
    <p class="legend"><mark class="extra">in the answer only</mark> <mark class="thought">leaked thought</mark></p>`;
}

function Versus({ ids: given, query }) {
  const ids = given.filter((id, index) => given.indexOf(id) === index).slice(0, MOST_CHOSEN);
  const unknown = ids.find((id) => !resultOf(id));
  const loaded = useLoaded(() => Promise.all([pack("pairs"), ...ids.map((id) => resultOf(id) && detailOf(resultOf(id)))]), [ids.join("\n")]);
  if (unknown) return html`<${Unknown} id=${unknown} />`;
  const head = html`<${Heading} title="Head to head" /><${Choose} ids=${ids} />`;
  if (ids.length < 2) return html`${head}<p>Choose two to four results; the first, A, is what the others are measured against.</p>`;
  if (!loaded) return html`${head}<p role="status">Unpacking…</p>`;
  const [pairs, ...details] = loaded;
  if (query.case) return html`<${SideBySide} details=${details} ids=${ids} caseId=${query.case} />`;
  return html`${head}
    ${pairs
      ? html`<${Against} base=${ids[0]} ids=${ids} pairs=${pairs} />`
      : html`<p>This page holds too many results for intervals of every pair; build one of these alone: <code>python -m benchmark.viewer A.json B.json</code></p>`}
    <${CaseByCase} details=${details} ids=${ids} query=${query} />`;
}

export { Versus };
