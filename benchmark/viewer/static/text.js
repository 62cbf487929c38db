// Texts that a command or a model wrote: always text, with everything invisible made visible.
import { html, useState } from "./dom.js";
import { whole } from "./format.js";

const MOST_SHOWN = 20_000;
const MOST_DIFFED = 20_000;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;
const SPLIT = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])/u;

function sign(character) {
  const code = character.codePointAt(0);
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  // As terminals show it: ^[ for escape.
  const shown = code < 0x20 ? `^${String.fromCodePoint(0x40 + code)}` : name;
  return html`<span class="sign" title=${name}>${shown}</span>`;
}

// Terminal escapes, marks that turn the direction of writing, half characters: shown as signs, never obeyed.
function visible(text) {
  if (!HIDDEN.test(text)) return text;
  return text.split(SPLIT).map((part, index) => (index % 2 ? sign(part) : part));
}

// Layers of [start, end, class] over a text -> its pieces, each with the classes that cover it.
function pieces(text, layers) {
  const edges = new Set([0, text.length]);
  for (const [start, end] of layers.flat()) {
    if (start < text.length) edges.add(start).add(Math.min(end, text.length));
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const places = layers.map(() => 0);
  return sorted.slice(0, -1).map((start, index) => {
    const names = layers.flatMap((layer, number) => {
      while (places[number] < layer.length && layer[places[number]][1] <= start) places[number] += 1;
      const mark = layer[places[number]];
      return mark && mark[0] <= start ? [mark[2]] : [];
    });
    return { text: text.slice(start, sorted[index + 1]), names };
  });
}

// A text with marks; `layers` hold [start, end, "class|title"].
function Marked({ text, layers = [], label }) {
  const [all, setAll] = useState(false);
  if (!text) return html`<p class="empty">(empty)</p>`;
  const shown = all ? text : text.slice(0, MOST_SHOWN);
  return html`<div class="text" role="region" aria-label=${label} tabindex="0">
      ${pieces(shown, layers).map(({ text: part, names }) => {
        if (!names.length) return visible(part);
        const title = names.map((name) => name.split("|")[1]).find(Boolean);
        return html`<mark class=${names.map((name) => name.split("|")[0]).join(" ")} title=${title}>${visible(part)}</mark>`;
      })}
    </div>
    ${text.length > MOST_SHOWN &&
    html`<p class="more">
      ${all ? "All" : "The first"} ${whole(shown.length)} of ${whole(text.length)} characters.
      ${!all && html` <button type="button" onClick=${() => setAll(true)}>Show all</button>`}
    </p>`}`;
}

// What of gold is missing in an answer, and what of the answer is not in gold, word by word; null when gold is unknown or one is too long.
function wordDifference(gold, answer) {
  if (gold === null || gold.length > MOST_DIFFED || answer.length > MOST_DIFFED) return null;
  const parts = Diff.diffWordsWithSpace(gold, answer, { timeout: 250 });
  if (!parts) return null;
  const missing = [];
  const extra = [];
  let before = 0;
  let after = 0;
  for (const { value, added, removed } of parts) {
    if (removed) missing.push([before, before + value.length, "missing"]);
    if (added) extra.push([after, after + value.length, "extra"]);
    if (!added) before += value.length;
    if (!removed) after += value.length;
  }
  return { missing, extra };
}

const THOUGHT = new Set(["thought", "reasoning_block", "thought_preamble", "thought_epilogue"]);

// Marks of the page's data -> a layer: leaked thought, or a wrapper, with the step that took it away as title.
const markLayer = (marks = []) =>
  marks.map(([start, end, labels]) => {
    const names = labels.split(" ");
    const steps = names.filter((name) => name !== "thought").map((name) => name.replaceAll("_", " "));
    const title = steps.length ? `removed as ${steps.join(", ")}` : "leaked thought, still there";
    const kind = names.some((name) => THOUGHT.has(name)) ? "thought" : "wrapper";
    return [start, end, `${kind}${steps.length ? " gone" : ""}|${title}`];
  });

export { Marked, markLayer, visible, wordDifference };
