// Which result to use, for a use and limits. Python has decided which result is best, and which others may be as good.
// Limits only leave results out.

/** @import { ChoiceCandidate, ChoiceShelf } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @typedef {{ memory?: number, seconds?: number, local: boolean }} Limits in bytes and seconds; without one, any */
/** @typedef {{ cards: (ChoiceCandidate | undefined)[], words: string, above: number }} Choice best, smallest, fastest,
 *   and why; how many results beat the best baseline */

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
 * The limits that a candidate is to keep, with what is known of it.
 * @param {ChoiceCandidate} candidate
 * @param {Limits} limits
 */
const asked = ({ memory_bytes, seconds }, limits) =>
  [
    { name: "memory", most: limits.memory, value: memory_bytes },
    { name: "time", most: limits.seconds, value: seconds },
  ].filter(({ most }) => most !== undefined);

/**
 * Whether nothing that is known of a candidate is beyond a limit.
 * @param {ChoiceCandidate} candidate
 * @param {Limits} limits
 */
const mayFit = (candidate, limits) =>
  (candidate.is_local || !limits.local) &&
  asked(candidate, limits).every(({ most, value }) => value === null || value <= Number(most));

/**
 * Which limits alone leave a candidate out, since what they are of is not known.
 * @param {ChoiceCandidate} candidate
 * @param {Limits} limits
 */
const lacks = (candidate, limits) =>
  mayFit(candidate, limits)
    ? asked(candidate, limits).flatMap(({ name, value }) => (value === null ? [name] : []))
    : [];

/**
 * Whether a candidate is within the limits; an unknown value is not.
 * @param {ChoiceCandidate} candidate
 * @param {Limits} limits
 */
const fits = (candidate, limits) => mayFit(candidate, limits) && !lacks(candidate, limits).length;

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
  const counts = (best ? shelf.chosen : why)
    .replace("{fitting}", `${left.size}`)
    .replace("{above}", `${options.length}`)
    .replace("{closest}", () => shelf.candidates[Math.min(...left)]?.as_closest ?? "");
  const missing = shelf.candidates.flatMap((candidate) => lacks(candidate, limits));
  const unknown = Object.entries(shelf.unknown).flatMap(([name, [one, several]]) => {
    const count = missing.filter((each) => each === name).length;
    return count ? [count === 1 ? one : several.replace("{left_out}", `${count}`)] : [];
  });
  const hasServices = limits.memory !== undefined && [...left].some((place) => !shelf.candidates[place].is_local);
  const words = [counts, ...unknown, ...(hasServices ? [shelf.services] : [])].join(" ");
  const cards = best ? [[best.candidate], best.smallest, best.fastest].map(first) : [];
  return { cards, words, above: options.length };
}

/**
 * The cards with their titles; one card, where one result is all that is chosen.
 * @template Card
 * @param {{ cards: string[], all_cards: string, only_card: string }} about
 * @param {(Card | undefined)[]} cards
 * @param {number} above how many results there are to choose from
 * @returns {{ title: string, card: Card | undefined }[]}
 */
function titledCards({ cards: titles, all_cards, only_card }, cards, above) {
  const [first] = cards;
  if (first && cards.every((card) => card === first)) {
    return [{ title: above === 1 ? only_card : all_cards, card: first }];
  }
  return cards.map((card, place) => ({ title: titles[place], card }));
}

/**
 * The board to choose from: the named one, or the one with the most cases of the use; of equal ones, the first.
 * @template {{ about: string, shelves: { use: string, cases: number }[] }} Board
 * @param {Board[]} boards
 * @param {Query} query
 */
function boardToChooseFrom(boards, { board, use }) {
  const casesOf = (/** @type {Board} */ { shelves }) => shelves.find((shelf) => shelf.use === use)?.cases ?? 0;
  return boards.find(({ about }) => about === board) ?? [...boards].sort((a, b) => casesOf(b) - casesOf(a))[0];
}

export { boardToChooseFrom, choiceOf, limitsOf, titledCards, typedNumber };
