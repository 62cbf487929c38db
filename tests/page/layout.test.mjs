// Names in pictures, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnOf, logTicks, namedMarks } from "../../benchmark/viewer/static/layout.js";

test("no name stands on another, or on a point", () => {
  const marks = Array.from({ length: 18 }, (_, place) => ({
    x: 100 + 9 * (place % 4),
    y: 200 + 3 * place,
    label: `method ${place} 2k`,
  }));
  const spots = [...namedMarks(marks, { width: 700, height: 400 })];
  assert.equal(spots.length, marks.length);
  const boxes = spots.map(([{ label }, { x, y }]) => [x, x + 6.5 * label.length, y - 6, y + 6]);
  const points = marks.map(({ x, y }) => [x - 4, x + 4, y - 4, y + 4]);
  const meet = (a, b) => a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
  boxes.forEach((box, place) => {
    assert.ok(box[0] >= 0 && box[1] <= 700 && box[2] >= 0 && box[3] <= 400, `${box}`);
    assert.ok(!points.some((point) => meet(box, point)));
    assert.ok(!boxes.slice(place + 1).some((other) => meet(box, other)));
  });
});

test("a name that has room stands beside its point", () => {
  const mark = { x: 50, y: 50, label: "text" };
  assert.equal(namedMarks([mark], { width: 300, height: 100 }).get(mark)?.isMoved, false);
});

test("a logarithmic axis has 1, 2 and 5", () => {
  assert.deepEqual(
    logTicks(0.04, 0.6).map((tick) => Number(tick.toFixed(3))),
    [0.05, 0.1, 0.2, 0.5],
  );
});

test("names in a column do not meet, and stay in it", () => {
  const found = columnOf([100, 100, 20, 196, 198], 200).toSorted((a, b) => a - b);
  found.slice(1).forEach((height, place) => {
    assert.ok(height - found[place] >= 14, `${found}`);
  });
  assert.ok(found.at(-1) <= 200);
  assert.deepEqual(columnOf([20, 100], 200), [20, 100]);
});
