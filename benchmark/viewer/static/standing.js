// What a board comes to for the results that filters leave, by who is better than whom.

/** @import { BoardInfo, PageBoardRow, RankInfo } from "./page_records.d.ts" */
/**
 * What is said of the results that are shown: the best of them, or a sentence where there is none to name.
 * @typedef {{ best: PageBoardRow[], words: string }} Headline
 */

/**
 * The rank of each result among those shown; differences are corrected for all pairs of the board.
 * @param {Pick<BoardInfo, "beaten_by">} board
 * @param {PageBoardRow[]} shown
 * @returns {Map<number, RankInfo>}
 */
function ranksOf({ beaten_by }, shown) {
  const ranked = shown.filter((row) => row.rank);
  const better = new Map(ranked.map(({ key }) => [key, new Set(beaten_by[key] ?? [])]));
  const isTied = (/** @type {number} */ key, /** @type {number} */ other) =>
    key !== other && !better.get(key)?.has(other) && !better.get(other)?.has(key);
  return new Map(
    ranked.map(({ key }) => [
      key,
      {
        place: 1 + ranked.filter((other) => better.get(key)?.has(other.key)).length,
        tied: ranked.some((other) => isTied(key, other.key)),
      },
    ]),
  );
}

/**
 * @param {BoardInfo} board
 * @param {PageBoardRow[]} all rows of the board
 * @param {PageBoardRow[]} shown those that filters leave
 * @returns {Headline}
 */
function headlineOf(board, all, shown) {
  const rivals = (/** @type {PageBoardRow[]} */ rows) => rows.filter((row) => !row.is_reference);
  const best = all.filter((row) => board.best.includes(row.key));
  if (!best.length || rivals(all).length === rivals(shown).length) return { best, words: board.headline };
  if (!rivals(shown).length) return { best: [], words: "No result is left by the filters." };
  const ranks = ranksOf(board, shown);
  if (!ranks.size) return { best: [], words: "None of the results that are shown has a rank." };
  const first = Math.min(...[...ranks.values()].map(({ place }) => place));
  return { best: shown.filter((row) => ranks.get(row.key)?.place === first), words: "" };
}

/**
 * The notes of results, each once, with those that it is about.
 * @param {PageBoardRow[]} rows
 * @returns {[string, PageBoardRow[]][]}
 */
function groupedNotes(rows) {
  /** @type {Map<string, PageBoardRow[]>} */
  const found = new Map();
  for (const row of rows) for (const note of row.notes) found.set(note, [...(found.get(note) ?? []), row]);
  return [...found];
}

export { groupedNotes, headlineOf, ranksOf };
