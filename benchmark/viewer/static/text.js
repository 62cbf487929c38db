// Texts that a command or a model wrote: always text, with everything invisible made visible.
import { html, useState } from "./dom.js";
import { whole } from "./format.js";

/** @import { AnswerSpan } from "./page_records.d.ts" */
/**
 * A stretch of a text, in UTF-16 units, that is marked; `kind` is its class, `id` what leads to it.
 * @typedef {{ start: number, end: number, kind: string, title?: string, id?: string }} Span
 */

const MOST_SHOWN = 20_000;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;
const SPLIT = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])/u;

/** @param {string} character */
function sign(character) {
  const code = character.codePointAt(0) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  // As terminals show it: ^[ for escape.
  const shown = code < 0x20 ? `^${String.fromCodePoint(0x40 + code)}` : name;
  return html`<span class="sign" title=${name}>${shown}</span>`;
}

/**
 * Terminal escapes, marks that turn the direction of writing, half characters: shown as signs, never obeyed.
 * @param {string} text
 */
function visible(text) {
  if (!HIDDEN.test(text)) return text;
  return text.split(SPLIT).map((part, index) => (index % 2 ? sign(part) : part));
}

/**
 * The pieces of a text, each with the spans that cover it; spans of one layer do not overlap.
 * @param {string} text
 * @param {Span[][]} layers
 */
function pieces(text, layers) {
  const edges = new Set([0, text.length]);
  for (const { start, end } of layers.flat()) {
    if (start < text.length) edges.add(start).add(Math.min(end, text.length));
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const places = layers.map(() => 0);
  return sorted.slice(0, -1).map((start, index) => {
    const spans = layers.flatMap((layer, number) => {
      while (places[number] < layer.length && layer[places[number]].end <= start) places[number] += 1;
      const span = layer[places[number]];
      return span && span.start <= start ? [span] : [];
    });
    return { part: text.slice(start, sorted[index + 1]), spans };
  });
}

/**
 * @param {{ text: string, layers?: Span[][], label: string, upTo?: number }} props `upTo` is what must be seen at once.
 */
function Marked({ text, layers = [], label, upTo = 0 }) {
  const [all, setAll] = useState(false);
  if (!text) return html`<p class="empty">(empty)</p>`;
  const shown = all ? text : text.slice(0, Math.max(MOST_SHOWN, upTo));
  return html`<div class="text" role="region" aria-label=${label} tabindex="0">
      ${pieces(shown, layers).map(({ part, spans }) => {
        if (!spans.length) return visible(part);
        const title = spans.map((span) => span.title).find(Boolean);
        const id = spans.map((span) => span.id).find(Boolean);
        const kinds = spans.map((span) => span.kind).join(" ");
        return html`<mark class=${kinds} title=${title} id=${id} tabindex=${id && -1}>${visible(part)}</mark>`;
      })}
    </div>
    ${
      text.length > Math.max(MOST_SHOWN, upTo) &&
      html`<p class="more">
      ${all ? "All" : "The first"} ${whole(shown.length)} of ${whole(text.length)} characters.
      ${!all && html` <button type="button" onClick=${() => setAll(true)}>Show all</button>`}
    </p>`
    }`;
}

/**
 * Leaked thought and wrappers as a layer, with the steps that took them away as title.
 * @param {AnswerSpan[]} spans
 * @returns {Span[]}
 */
const answerLayer = (spans) =>
  spans.map(({ start, end, is_thought, removed_as }) => {
    const kind = is_thought ? "thought" : "wrapper";
    if (!removed_as) return { start, end, kind, title: "leaked thought, still there" };
    return { start, end, kind: `${kind} gone`, title: `removed as ${removed_as.join(", ")}` };
  });

export { answerLayer, Marked, visible };
