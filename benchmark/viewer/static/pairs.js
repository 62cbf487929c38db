// Comparisons of two results, whichever way round they are asked for.

/** @import { PageBoardRow, Pair, PairFigure, PairSpeed } from "./page_records.d.ts" */

/** @type {Record<string, string>} */
const OPPOSITES = { better: "worse", worse: "better", faster: "slower", slower: "faster" };

/** @param {string} verdict */
const turnedVerdict = (verdict) => OPPOSITES[verdict] ?? verdict;

/** @param {PairFigure} figure */
const turnedFigure = ({ interval: ends, verdict = "", ...figure }) => ({
  ...figure,
  a: figure.b,
  b: figure.a,
  gain: -figure.gain,
  interval: ends && { low: -ends.high, high: -ends.low },
  verdict: turnedVerdict(verdict),
});

/** @param {PairSpeed} speed */
const turnedSpeed = ({ a, b, ratio, interval: ends, verdict }) => ({
  a: b,
  b: a,
  ratio: 1 / ratio,
  interval: ends && { low: 1 / ends.high, high: 1 / ends.low },
  verdict: turnedVerdict(verdict),
});

/**
 * @param {Pair} pair
 * @returns {Pair}
 */
const turned = (pair) => ({
  ...pair,
  a: pair.b,
  b: pair.a,
  only_a: pair.only_b,
  only_b: pair.only_a,
  wins: pair.losses,
  losses: pair.wins,
  figures: pair.figures.map(turnedFigure),
  intents: pair.intents.map(turnedFigure),
  words: pair.turned_words,
  turned_words: pair.words,
  speed: pair.speed && turnedSpeed(pair.speed),
});

/**
 * The comparison of `b` against `a`, whichever way round the page holds it.
 * @param {Pair[]} pairs
 * @param {Pick<PageBoardRow, "key">} a
 * @param {Pick<PageBoardRow, "key">} b
 */
function comparison(pairs, a, b) {
  const straight = pairs.find((pair) => pair.a === a.key && pair.b === b.key);
  if (straight) return straight;
  const found = pairs.find((pair) => pair.a === b.key && pair.b === a.key);
  return found && turned(found);
}

export { comparison };
