import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, markdownOf } from "../../benchmark/viewer/static/delimited.js";

test("a table for other programs", () => {
  const rows = [
    ["result", "score", "gain"],
    ['say "a", b', "62.1 [60.0, 64.1]", "−1.5"],
    ["x|y_z", "–", "+0.3"],
  ];
  // A figure with an interval takes three columns.
  assert.equal(
    csvOf(rows),
    'result,score,score low,score high,gain\n"say ""a"", b",62.1,60.0,64.1,-1.5\nx|y_z,,,,+0.3\n',
  );
  assert.equal(
    markdownOf(rows),
    '| result | score | gain |\n| --- | --- | --- |\n| say "a", b | 62.1 \\[60.0, 64.1\\] | −1.5 |\n| x\\|y\\_z | – | +0.3 |\n',
  );
});

test("what a spreadsheet would run is text", () => {
  for (const evil of ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-"]) {
    assert.ok(csvOf([[evil]]).replace(/^"/, "").startsWith("'"), evil);
  }
  assert.equal(csvOf([["n"], ["-2.5"], ["+1,200"]]), 'n\n-2.5\n"+1,200"\n');
});
