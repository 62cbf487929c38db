// Headline, ranks and notes of a board, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondText } from "../../benchmark/viewer/static/format.js";
import { comparison } from "../../benchmark/viewer/static/pairs.js";
import { groupedNotes, headlineOf, ranksOf } from "../../benchmark/viewer/static/standing.js";

const row = (key, more = {}) => ({ key, rank: { place: 1, tied: false }, is_reference: false, notes: [], ...more });
// 1 is better than 2 and 3, which cannot be told apart; 4 has no rank.
const rows = [row(1), row(2), row(3), row(4, { rank: null }), row(5, { rank: null, is_reference: true })];
const board = { best: [1], headline: "Best: 1.", beaten_by: { 1: [], 2: [1], 3: [1] } };

test("a filter leaves its own best and its own ranks", () => {
  assert.deepEqual(headlineOf(board, rows, rows).best, [rows[0]]);
  const shown = rows.slice(1);
  const { best, words } = headlineOf(board, rows, shown);
  assert.deepEqual([best, words], [[rows[1], rows[2]], ""]);
  assert.deepEqual(ranksOf(board, shown).get(2), { place: 1, tied: true });
  assert.deepEqual(ranksOf(board, rows).get(2), { place: 2, tied: true });
  assert.deepEqual(ranksOf(board, rows).get(1), { place: 1, tied: false });
});

test("a filter that leaves nothing names nobody", () => {
  assert.deepEqual(headlineOf(board, rows, [rows[4]]), { best: [], words: "No result is left by the filters." });
  assert.match(headlineOf(board, rows, [rows[3]]).words, /has a rank/);
});

test("a board without a best says why under any filter", () => {
  const none = { ...board, best: [], headline: "No model beats the best baseline." };
  assert.deepEqual(headlineOf(none, rows, rows.slice(1)), { best: [], words: none.headline });
});

test("a note is told once, with all that it is about", () => {
  const noted = [row(1, { notes: ["a", "b"] }), row(2, { notes: ["a"] })];
  assert.deepEqual(groupedNotes(noted), [
    ["a", noted],
    ["b", [noted[0]]],
  ]);
});

test("a comparison turned round says the opposite, and has a verdict only where there is one", () => {
  const figure = { name: "x", cases: 9, a: 1, b: 3, gain: 2, interval: { low: 1, high: 3 }, p: 0.01, verdict: "better" };
  const pair = {
    a: 1,
    b: 2,
    only_a: 1,
    only_b: 0,
    wins: 5,
    losses: 2,
    figures: [figure, { ...figure, verdict: "not significant" }, { ...figure, verdict: "" }],
    intents: [],
    speed: { a: 10, b: 20, ratio: 2, interval: { low: 1.5, high: 4 }, verdict: "slower" },
  };
  const found = comparison([pair], { key: 2 }, { key: 1 });
  assert.deepEqual(
    found.figures.map(({ verdict }) => verdict),
    ["worse", "not significant", ""],
  );
  assert.deepEqual(found.figures[0].interval, { low: -3, high: -1 });
  assert.deepEqual(found.speed, { a: 20, b: 10, ratio: 0.5, interval: { low: 0.25, high: 1 / 1.5 }, verdict: "faster" });
});

test("columns beyond the edge are counted", () => {
  assert.equal(beyondText([100, 200, 300, 400], 300), "1 more column: scroll →");
  // A column that is cut is not seen whole.
  assert.equal(beyondText([100, 200, 310, 400], 300), "2 more columns: scroll →");
  assert.equal(beyondText([100, 200, 300.5], 300), "");
});
