// Which result the chooser names, and what it says of those that it leaves out, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { boardToChooseFrom, choiceOf, limitsOf, titledCards } from "../../benchmark/viewer/static/choose.js";

const candidate = (key, memory_bytes, more = {}) => ({ key, facts: [], memory_bytes, seconds: 1, is_local: true, ...more });
const shelf = {
  candidates: [
    candidate(1, 0, { is_local: false }),
    candidate(2, 1e9),
    candidate(3, null),
    candidate(4, null, { seconds: 9 }),
    candidate(5, 5e9),
  ],
  options: [0, 1, 2, 3, 4].map((place) => ({ candidate: place, smallest: [place], fastest: [place] })),
  chosen: "Left: {fitting}, above: {above}.",
  none_above: "None above.",
  none_fits: "None fits.",
  unknown: { memory: ["1 without memory.", "{left_out} without memory."], time: ["1 without time.", "{left_out} ..."] },
  services: "Services need no memory here.",
};

test("a limit of memory says what it leaves out, and that services are within it", () => {
  assert.equal(
    choiceOf(shelf, limitsOf({ gb: "2" })).words,
    "Left: 2, above: 2. 2 without memory. Services need no memory here.",
  );
  assert.equal(choiceOf(shelf, limitsOf({ gb: "2", s: "5" })).words.includes("1 without memory."), true);
  assert.equal(choiceOf(shelf, limitsOf({ gb: "2", local: "1" })).words, "Left: 1, above: 1. 2 without memory.");
  assert.equal(choiceOf(shelf, limitsOf({})).words, "Left: 5, above: 5.");
});

test("one result that is all that is chosen has one card", () => {
  const about = { cards: ["best", "smallest", "fastest"], all_cards: "all three", only_card: "only one" };
  const [one, other] = [{ key: 1 }, { key: 2 }];
  assert.deepEqual(titledCards(about, [one, one, one], 2), [{ title: "all three", card: one }]);
  assert.deepEqual(titledCards(about, [one, one, one], 1), [{ title: "only one", card: one }]);
  assert.equal(titledCards(about, [one, one, other], 2).length, 3);
  assert.deepEqual(titledCards(about, [one, undefined, one], 2)[1], { title: "smallest", card: undefined });
  assert.deepEqual(titledCards(about, [], 0), []);
});

test("the board with the most cases of a use is chosen from, unless the address names one", () => {
  const easy = { about: "easy", shelves: [{ use: "all", cases: 40 }, { use: "json", cases: 20 }] };
  const mixed = { about: "mixed", shelves: [{ use: "all", cases: 80 }, { use: "json", cases: 5 }] };
  const both = [easy, mixed];
  assert.equal(boardToChooseFrom([mixed, easy], {}), mixed);
  assert.equal(boardToChooseFrom(both, { use: "json" }), easy);
  assert.equal(boardToChooseFrom(both, { use: "json", board: "mixed" }), mixed);
  assert.equal(boardToChooseFrom(both, { use: "yaml" }), easy);
  assert.equal(boardToChooseFrom([], {}), undefined);
});
