// Two texts word by word: what only one of them has, and what both have in another place.

/** @typedef {{ start: number, end: number, kind: string, title?: string }} Span */

const MOST_DIFFED = 20_000;
const WORD = /[\p{L}\p{N}_./:\\-]+|[^\s]/gu;

/**
 * How often each word stands in the parts of one side.
 * @param {{ value: string }[]} parts
 */
function wordsOf(parts) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { value } of parts) for (const [word] of value.matchAll(WORD)) found.set(word, (found.get(word) ?? 0) + 1);
  return found;
}

/**
 * A part of one side as spans: its words that the other side has elsewhere are only moved.
 * @param {string} value
 * @param {number} start
 * @param {string} kind
 * @param {Map<string, number>} elsewhere words of the other side that are not yet taken
 * @returns {Span[]}
 */
function spansOf(value, start, kind, elsewhere) {
  /** @type {Span[]} */
  const spans = [];
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ as) => {
    const last = spans.at(-1);
    if (last?.kind === as && last.end === start + from) last.end = start + to;
    else if (from < to) spans.push({ start: start + from, end: start + to, kind: as });
  };
  let at = 0;
  for (const { 0: word, index } of value.matchAll(WORD)) {
    const left = elsewhere.get(word) ?? 0;
    if (!left) continue;
    elsewhere.set(word, left - 1);
    add(at, index, value.slice(at, index).trim() ? kind : "moved");
    add(index, index + word.length, "moved");
    at = index + word.length;
  }
  add(at, value.length, at && !value.slice(at).trim() ? "moved" : kind);
  return spans;
}

/**
 * What of gold is missing in an answer, what of the answer is not in gold, and what is in both but moved; null when
 * gold is unknown or one of them is too long.
 * @param {string | null} gold
 * @param {string} answer
 */
function wordDifference(gold, answer) {
  if (gold === null || gold.length > MOST_DIFFED || answer.length > MOST_DIFFED) return null;
  const parts = Diff.diffWordsWithSpace(gold, answer, { timeout: 250 });
  if (!parts) return null;
  const onlyGold = wordsOf(parts.filter(({ removed }) => removed));
  const onlyAnswer = wordsOf(parts.filter(({ added }) => added));
  /** @type {Span[]} */
  const missing = [];
  /** @type {Span[]} */
  const extra = [];
  let before = 0;
  let after = 0;
  for (const { value, added, removed } of parts) {
    if (removed) missing.push(...spansOf(value, before, "missing", onlyAnswer));
    if (added) extra.push(...spansOf(value, after, "extra", onlyGold));
    if (!added) before += value.length;
    if (!removed) after += value.length;
  }
  return { missing, extra };
}

const SENTENCE = /[^\n]+?(?:[.!?;:]+(?=\s|$)|$)/gm;

/**
 * A sentence without what lists, headings and punctuation put around it.
 * @param {string} text
 */
const bare = (text) =>
  text
    .toLowerCase()
    .replace(/^[\s#>*-]+/, "")
    .replace(/[\s.!?;:,]+$/, "");

/**
 * The sentences of a text that another one has nowhere, whatever stands around them there; single words do not count.
 * @param {string} text
 * @param {string} other
 * @returns {Span[]}
 */
function saidAlone(text, other) {
  const theirs = new Set([...other.matchAll(SENTENCE)].map(([sentence]) => bare(sentence)));
  return [...text.matchAll(SENTENCE)].flatMap(({ 0: sentence, index }) => {
    const key = bare(sentence);
    if (!/\s/.test(key) || theirs.has(key)) return [];
    const lead = sentence.length - sentence.trimStart().length;
    return [{ start: index + lead, end: index + sentence.length, kind: "alone" }];
  });
}

export { saidAlone, wordDifference };
