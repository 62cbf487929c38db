// What two methods keep of the same questions, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countsByType, sharedQuestions } from "../../benchmark/viewer/static/flips.js";

const asked = (at, scores, states) => ({ at, age: at, scores, states });
const probe = (id, type, ...cuts) => ({ id, type, maker: "hand", question: `${id}?`, evidence: [1], asked: cuts });
const pack = {
  states: ["kept", "in other words", "lost"],
  sessions: [
    {
      name: "one",
      probes: [
        probe("p", "recall", asked(0, [5, 0, 5], [0, 2, 0]), asked(1, [5, null, 5], [0, -1, 0])),
        probe("q", "decision", asked(0, [2, 4, 0], [1, 0, 2])),
        probe("r", "recall", asked(0, [1, 0, 0], [2, 2, 2])),
      ],
    },
  ],
};

test("questions are shared where both have a summary", () => {
  const found = sharedQuestions(pack, 0, 1);
  assert.deepEqual(
    found.map(({ probe: id, at, gap, isFlip }) => [id, at, gap, isFlip]),
    [
      ["p", 0, -5, true],
      ["q", 0, 2, true],
      ["r", 0, -1, false],
    ],
  );
  assert.equal(sharedQuestions(pack, 0, 2).length, 4);
});

test("each question is counted once", () => {
  const [recall, decision, artifact] = countsByType(["recall", "decision", "artifact"], sharedQuestions(pack, 0, 1));
  assert.deepEqual(recall, { type: "recall", asked: 2, both: 0, onlyA: 1, onlyB: 0, neither: 1 });
  assert.deepEqual(decision, { type: "decision", asked: 1, both: 0, onlyA: 0, onlyB: 1, neither: 0 });
  assert.equal(artifact.asked, 0);
});
