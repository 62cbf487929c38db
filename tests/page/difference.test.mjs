// Two texts word by word, without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";
import { saidAlone, wordDifference } from "../../benchmark/viewer/static/difference.js";

const style = readFileSync(new URL("../../benchmark/viewer/static/style.css", import.meta.url), "utf8");
vm.runInThisContext(readFileSync(new URL("../../benchmark/viewer/static/vendor/diff.js", import.meta.url), "utf8"));

const marked = (text, spans) => spans.map(({ start, end, kind }) => [kind, text.slice(start, end).trim()]);

test("lines in another order are moved, neither lost nor made up", () => {
  const [gold, answer] = ["alpha.py\nbeta.py", "beta.py\nalpha.py"];
  const { missing, extra } = wordDifference(gold, answer);
  const kinds = new Set([...missing, ...extra].map(({ kind }) => kind));
  assert.deepEqual(kinds, new Set(["moved"]));
});

test("what is made up and what is left out keep their marks beside what moved", () => {
  const [gold, answer] = ["alpha.py failed\nbeta.py", "beta.py\nalpha.py C:\\Users\\John"];
  const { missing, extra } = wordDifference(gold, answer);
  assert.ok(marked(gold, missing).some(([kind, text]) => kind === "missing" && text.includes("failed")));
  assert.ok(marked(answer, extra).some(([kind, text]) => kind === "extra" && text.includes("C:\\Users\\John")));
});

test("a word that one side has twice and the other once is moved once", () => {
  const { extra } = wordDifference("one two", "two x one one");
  const words = marked("two x one one", extra);
  assert.ok(words.some(([kind]) => kind === "extra"));
});

test("spans stand in order and do not overlap", () => {
  for (const [gold, answer] of [["a b c d e", "e d x c b a"], ["", "new words"], ["old words", ""], ["a  b", "b a"]]) {
    const { missing, extra } = wordDifference(gold, answer);
    for (const spans of [missing, extra]) {
      for (const [index, span] of spans.entries()) {
        assert.ok(span.start < span.end);
        assert.ok(index === 0 || spans[index - 1].end <= span.start);
      }
    }
  }
});

/** The red, green and blue of a colour of the page. */
const rgb = (name, from) => {
  const [, hex] = new RegExp(`${name}: #([0-9a-f]{6});`).exec(style.slice(from));
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
};

test("what is in the answer only is green in neither theme", () => {
  for (const from of [0, style.indexOf('data-theme="dark"')]) {
    for (const name of ["--extra", "--moved"]) {
      const [red, green, blue] = rgb(name, from);
      assert.ok(green <= Math.max(red, blue), `${name} ${red} ${green} ${blue}`);
    }
  }
});

test("an accepted answer has no colour of success", () => {
  for (const selector of [".status.accepted", ".of-accepted"]) assert.ok(!style.includes(`${selector} {`), selector);
});

test("what only one text says is marked, wherever and however the other says the rest", () => {
  const text = "user: Hello! The plans stay as they are.\n\nUse src/index.ts alone.\nok";
  const other = "## Intent\n- The plans stay as they are.; Hello\n1. use src/index.ts\n";
  const said = (a, b) => saidAlone(a, b).map(({ start, end }) => a.slice(start, end));
  assert.deepEqual(said(text, other), ["Use src/index.ts alone."]);
  assert.deepEqual(said(other, text), ["use src/index.ts"]);
  assert.deepEqual(said(text, text), []);
});
