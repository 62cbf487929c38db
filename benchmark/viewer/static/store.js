// What the page holds: the overview at once, everything else unpacked when a view asks for it.
import { elementOf, useEffect, useState } from "./dom.js";

/**
 * @import {
 *   PageAnswer, PageBoardRow, BoardItems, CaseRow, CatalogEntry, ChartPack, ChooserInfo, Detail, FigureInfo, Overview,
 *   Pair, Pairs, PageQuestion, ProbePack, SessionTexts, Shelf, SlicePack, StressPack,
 *   ViewTexts,
 * } from "./page_records.d.ts"
 */
/** @typedef {CatalogEntry & CaseRow} Case */
/** @typedef {Omit<Detail, "cases"> & { cases: Case[], byId: Map<string, Case> }} Loaded */
/** @typedef {PageQuestion & { raw_input: string | null }} Asked */
/** @typedef {{ [Name in keyof ViewTexts]-?: NonNullable<ViewTexts[Name]> }} View */
/** @typedef {Omit<PageAnswer, "recovered" | "raw"> & { recovered: View, raw: View }} Answered */

/** @type {Overview} */
const overview = JSON.parse(elementOf("overview").textContent ?? "");
const { results } = overview;
// The first view.
const START = results.length ? "board" : overview.probed?.length ? "compaction" : "stress";
// Addresses name runs; those of older pages name labels, or scenarios whose name a second run has made ambiguous.
const places = new Map([
  ...[...results].reverse().map((row) => /** @type {const} */ ([row.scenario, row])),
  ...results.map((row) => /** @type {const} */ ([row.label, row])),
  ...results.map((row) => /** @type {const} */ ([row.id, row])),
]);
const figures = new Map(overview.figures.map((figure) => [figure.key, figure]));
/** @type {Map<string, Promise<any>>} */
const packs = new Map();

/** @param {string} id */
const resultOf = (id) => places.get(id);

/** @param {string} key */
const figureOf = (key) => /** @type {FigureInfo} */ (figures.get(key));

/** @param {string} name */
function pack(name) {
  const found = packs.get(name) ?? packedText(name).then((text) => JSON.parse(text));
  packs.set(name, found);
  return found;
}

/** @type {() => Promise<ChartPack>} */
const chartPack = () => pack("charts");

/** @type {() => Promise<SlicePack>} */
const slicePack = () => pack("slices");

/** @type {() => Promise<{ boards: BoardItems[], catalog: CatalogEntry[] }>} */
const caseItems = async () => ({ boards: await pack("items"), catalog: await pack("catalog") });

/** @returns {Promise<Pair[] | null>} */
const allPairs = async () => /** @type {Pairs} */ (await pack("pairs")).found;

/**
 * A result of probes without its texts, by its place among those of the page.
 * @type {(run: number) => Promise<ProbePack>}
 */
const probePack = (run) => pack(`probes-${run}`);

/**
 * The texts of one of its sessions.
 * @type {(run: number, session: number) => Promise<SessionTexts>}
 */
const sessionTexts = (run, session) => pack(`probes-${run}-${session}`);

/** @type {() => Promise<StressPack>} */
const stressPack = () => pack("stress");

/** @type {() => Promise<ChooserInfo[]>} */
const choosers = () => pack("choosing");

// The packs stand behind the scripts, so that the first view need not wait for them.
/** @type {Promise<void>} */
const parsed = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done(), { once: true });
});

/** @param {string} name */
async function packedText(name) {
  await parsed;
  const packed = atob(elementOf(`pack-${name}`).textContent ?? "");
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** @type {Map<number, Promise<Loaded>>} */
const details = new Map();

/**
 * One result with its cases, each with what is asked in it.
 * @param {PageBoardRow} row
 */
function detailOf(row) {
  const found = details.get(row.key) ?? readDetail(row);
  details.set(row.key, found);
  return found;
}

/**
 * @param {PageBoardRow} row
 * @returns {Promise<Loaded>}
 */
async function readDetail(row) {
  /** @type {[Detail, CatalogEntry[]]} */
  const [detail, catalog] = await Promise.all([pack(`result-${row.key}`), pack("catalog")]);
  const cases = detail.cases.map((one) => ({ ...catalog[one.question], ...one }));
  return { ...detail, cases, byId: new Map(cases.map((one) => [one.case_id, one])) };
}

/**
 * The question of a case, with all answers to it.
 * @param {CatalogEntry} entry
 * @returns {Promise<Asked>}
 */
async function questionOf(entry) {
  /** @type {Shelf} */
  const shelf = await pack(`shelf-${entry.shelf}`);
  return { ...shelf.questions[entry.place], raw_input: shelf.raw_input };
}

/** @type {View} */
const NO_TEXTS = { output: "", reasons: {}, missing: [], ungrounded: [], spans: [] };

/**
 * What one result answered; the record says how its views are shortened.
 * @param {Asked} question
 * @param {PageBoardRow} result
 * @returns {Answered}
 */
function answerOf(question, result) {
  /** @type {PageAnswer} */
  const answer = question.answers?.[result.key] ?? {};
  const recovered = { ...NO_TEXTS, ...answer.recovered };
  return { ...answer, recovered, raw: { ...recovered, ...answer.raw } };
}

/**
 * The value of a promise, for a component: undefined while it is on its way.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} keys
 * @returns {T | undefined}
 */
function useLoaded(load, keys) {
  const [state, setState] = useState(/** @type {{ keys?: unknown[], value?: T, error?: unknown }} */ ({}));
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

export {
  allPairs,
  answerOf,
  caseItems,
  chartPack,
  choosers,
  detailOf,
  figureOf,
  overview,
  packedText,
  probePack,
  questionOf,
  resultOf,
  results,
  START,
  sessionTexts,
  slicePack,
  stressPack,
  useLoaded,
};
