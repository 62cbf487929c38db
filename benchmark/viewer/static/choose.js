// Which result to use, for a use and limits. Python has decided which result is best, and which others may be as good.
// Limits only leave results out.

/** @import { ChoiceCandidate, ChoiceShelf } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @typedef {{ memory?: number, seconds?: number, local: boolean }} Limits in bytes and seconds; without one, any */
/** @typedef {{ cards: (ChoiceCandidate | undefined)[], words: string }} Choice best, smallest, fastest, and why */

/**
 * The number of 0 or more that somebody typed; undefined for anything else.
 * @param {string | undefined} text
 */
function typedNumber(text) {
  const typed = (text ?? "").trim().replace(",", ".");
  return /^\d{1,9}(\.\d{0,9})?$/.test(typed) ? Number(typed) : undefined;
}

/**
 * @param {Query} query
 * @returns {Limits}
 */
function limitsOf({ gb, s, local }) {
  const memory = typedNumber(gb);
  return { memory: memory === undefined ? undefined : memory * 1e9, seconds: typedNumber(s), local: local === "1" };
}

/**
 * Whether a candidate is within the limits; an unknown value is not.
 * @param {ChoiceCandidate} candidate
 * @param {Limits} limits
 */
const fits = ({ memory_bytes, seconds, is_local }, limits) =>
  (is_local || !limits.local) &&
  (limits.memory === undefined || (memory_bytes !== null && memory_bytes <= limits.memory)) &&
  (limits.seconds === undefined || (seconds !== null && seconds <= limits.seconds));

/**
 * @param {ChoiceShelf} shelf
 * @param {Limits} limits
 * @returns {Choice}
 */
function choiceOf(shelf, limits) {
  const left = new Set([...shelf.candidates.keys()].filter((place) => fits(shelf.candidates[place], limits)));
  const options = shelf.options.filter(({ candidate }) => left.has(candidate));
  const [best] = options;
  /** @param {number[]} places */
  const first = (places) => {
    const place = places.find((each) => left.has(each));
    return place === undefined ? undefined : shelf.candidates[place];
  };
  const why = left.size ? shelf.none_above : shelf.none_fits;
  const words = (best ? shelf.chosen : why)
    .replace("{fitting}", `${left.size}`)
    .replace("{above}", `${options.length}`);
  return { cards: best ? [[best.candidate], best.smallest, best.fastest].map(first) : [], words };
}

export { choiceOf, limitsOf, typedNumber };
