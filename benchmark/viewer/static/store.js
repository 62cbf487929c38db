// What the page holds: the overview at once, everything else unpacked when a view asks for it.
import { useEffect, useState } from "./dom.js";

const summary = JSON.parse(document.getElementById("summary").textContent);
const results = summary.rows;
const positions = new Map(results.map((row, index) => [row.id, index]));
const packs = new Map();

const resultOf = (id) => results[positions.get(id)];

const positionOf = (id) => positions.get(id);

function pack(name) {
  if (!packs.has(name)) packs.set(name, packedText(name).then(JSON.parse));
  return packs.get(name);
}

// The packs stand behind the scripts, so that the first view need not wait for them.
const parsed = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", done, { once: true });
});

async function packedText(name) {
  await parsed;
  const packed = atob(document.getElementById(`pack-${name}`).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// One result with its cases as rows, each with what is asked in it.
const details = new Map();

function detailOf(row) {
  if (!details.has(row.key)) details.set(row.key, readDetail(row));
  return details.get(row.key);
}

async function readDetail(row) {
  const [detail, catalog] = await Promise.all([pack(`result-${row.key}`), pack("catalog")]);
  const columns = Object.entries(detail.cases);
  const cases = (detail.cases.body ?? []).map((body, index) => {
    const [case_id, title, intent, family, tool, difficulty, output_mode, shelf, place] = catalog[body];
    const found = { case_id, title, intent, family, tool, difficulty, output_mode, shelf, place };
    for (const [name, values] of columns) found[name] = values[index];
    return found;
  });
  return { ...detail, cases, byId: new Map(cases.map((row_) => [row_.case_id, row_])) };
}

// The question of a case, and what one result answered.
async function questionOf(row) {
  const shelf = await pack(`cases-${row.shelf}`);
  return { ...shelf.cases[row.place], raw_input: shelf.raw_input };
}

function answerOf(question, result) {
  const texts = question.answers[result.key] ?? {};
  const missing = (tokens) => tokens?.map((token) => (typeof token === "number" ? question.anchors[token] : token)) ?? [];
  const view = (prefix) => {
    const pick = (name) => texts[prefix + name] ?? texts[name];
    const lost = missing(pick("missing_tokens"));
    const reasons = { ...pick("reasons") };
    if (lost.length && !reasons.preserve) reasons.preserve = lost.map((anchor) => `missing ${anchor}`);
    return { output: pick("output") ?? "", reasons, missing: lost, ungrounded: pick("ungrounded_facts") ?? [] };
  };
  return { ...texts, recovered: view(""), raw: view("raw_") };
}

// The value of a promise, for a component: undefined while it is on its way.
function useLoaded(load, keys) {
  const [state, setState] = useState({ keys: null });
  useEffect(() => {
    let wanted = true;
    load().then(
      (value) => wanted && setState({ keys, value }),
      (error) => wanted && setState({ keys, error }),
    );
    return () => {
      wanted = false;
    };
  }, keys);
  if (state.error) throw state.error;
  // What was loaded for other keys is yesterday's.
  return state.keys?.every((key, index) => key === keys[index]) ? state.value : undefined;
}

export { answerOf, detailOf, pack, packedText, positionOf, questionOf, resultOf, results, summary, useLoaded };
