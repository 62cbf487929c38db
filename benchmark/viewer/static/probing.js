// What the views of compaction share: runs, scores, and the words for them.
import { html } from "./dom.js";
import { fixed, UNKNOWN } from "./format.js";
import { overview } from "./store.js";
import { Choice } from "./table.js";

/** @import { AskedAtCut, ProbePack } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */

const FULL = 5;
const SHADES = 5;

/** @type {Record<string, string>} */
const TYPES = {
  recall: "facts of earlier steps, such as a value or the cause of an error",
  artifact: "the files that were made, changed or read",
  continuation: "what is to be done next",
  decision: "what was chosen, and why",
  constraint: "what the user demands or forbids",
};

/**
 * What links between the views of compaction take along.
 * @param {Query} query
 * @returns {Query}
 */
const sharedOf = ({ run, made, type, method }) => ({ run, made, type, method });

/**
 * The place of the run that an address names; the first one where it names none.
 * @param {Query} query
 */
const runOf = (query) =>
  Math.max(
    0,
    (overview.probed ?? []).findIndex(({ id }) => id === query.run),
  );

/** @param {{ query: Query }} props */
function RunChoice({ query }) {
  const runs = (overview.probed ?? []).map(({ id }) => id);
  if (runs.length < 2) return null;
  return html`<${Choice} label="Run" name="run" value=${runs[runOf(query)]} options=${runs} all=${false} />`;
}

/**
 * The places of what was measured, in the order of the board: the best first.
 * @param {ProbePack} pack
 */
const placesOf = (pack) => [...new Set(pack.boards.flatMap(({ rows }) => rows.flatMap(({ methods }) => methods)))];

/**
 * The method that an address names; else the best one of those that compete.
 * @param {ProbePack} pack
 * @param {Query} query
 */
function methodOf(pack, { method }) {
  const named = pack.methods.indexOf(method);
  const best = pack.boards[0]?.rows.find(({ rank }) => rank)?.methods[0];
  return named >= 0 ? named : (best ?? 0);
}

/** @param {number} score from 0 to 5 */
const shadeOf = (score) => `s${Math.min(SHADES - 1, Math.floor((SHADES * score) / FULL))}`;

/**
 * What a method kept of a probe at a cut: its score, `~` where the answer stands there in other words, and `!` where
 * what stands last contradicts it.
 * @param {ProbePack} pack
 * @param {AskedAtCut} asked
 * @param {number} method
 */
function scoreText(pack, asked, method) {
  const score = asked.scores[method];
  if (score === null) return UNKNOWN;
  const reworded = pack.states[asked.states[method]] === "in other words" ? "~" : "";
  return `${Number(score.toFixed(2))}${reworded}${asked.uptakes?.includes(method) ? "!" : ""}`;
}

const SCORE_SIGNS =
  "Scores are 0 to 5; a stronger colour is higher. ~: the rules find the answer only in other words. !: the last " +
  "statement in the context contradicts it.";

/**
 * A score from 0 to 5 on a ground that is darker where it is higher.
 * @param {{
 *   score: number | null | undefined, text?: string, href?: string, isCurrent?: boolean, onClick?: () => void,
 * }} props
 */
function Shade({ score, text, href, isCurrent = false, onClick }) {
  if (score === null || score === undefined) return html`<span class="shade">${UNKNOWN}</span>`;
  const kind = `shade ${shadeOf(score)}`;
  const shown = text ?? fixed(score, 2);
  if (!href) return html`<span class=${kind}>${shown}</span>`;
  const current = isCurrent ? "true" : undefined;
  return html`<a class=${kind} href=${href} onClick=${onClick} aria-current=${current}>${shown}</a>`;
}

export { methodOf, placesOf, RunChoice, runOf, SCORE_SIGNS, Shade, scoreText, shadeOf, sharedOf, TYPES };
