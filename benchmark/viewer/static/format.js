// Figures as people read them. What a file does not say is a dash.
/** @import { FigureInfo, PageInterval } from "./page_records.d.ts" */
/** @typedef {number | null | undefined} Value */

const UNKNOWN = "–";

/**
 * @param {Value} value
 * @returns {value is number}
 */
const known = (value) => typeof value === "number" && Number.isFinite(value);

/** @param {Value} value */
function fixed(value, digits = 1) {
  if (!known(value)) return UNKNOWN;
  const text = Math.abs(value).toFixed(digits);
  // Nothing has no sign.
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** @param {Value} value */
function signed(value, digits = 1) {
  const text = fixed(value, digits);
  return known(value) && !text.startsWith("−") ? `+${text}` : text;
}

/**
 * @param {FigureInfo} figure
 * @param {Value} value
 */
function figureText(figure, value) {
  if (!known(value)) return UNKNOWN;
  const scaled = value * figure.scale;
  const shown = figure.rounds_down ? Math.floor(scaled + 1e-9) : scaled;
  return `${(figure.signed ? signed : fixed)(shown, figure.digits)}${figure.suffix}`;
}

/** @param {Value} milliseconds */
const seconds = (milliseconds) => (known(milliseconds) ? (milliseconds / 1000).toFixed(2) : UNKNOWN);

/** @param {Value} value */
const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en") : UNKNOWN);

/** @param {number} p */
const pValue = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

/**
 * @param {PageInterval | null | undefined} ends
 * @param {(value: number) => string} form
 */
const interval = (ends, form) => (ends ? `[${form(ends.low)}, ${form(ends.high)}]` : "");

/**
 * @param {number} count
 * @param {string} word
 */
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

/**
 * What hides beyond the edge of a table that scrolls sideways; empty where nothing does.
 * @param {number[]} ends where columns end, from the left
 * @param {number} edge where the visible part ends
 */
function beyondText(ends, edge) {
  const count = ends.filter((end) => end > edge + 1).length;
  return count ? `${count} more ${count === 1 ? "column" : "columns"}: scroll →` : "";
}

export { beyondText, figureText, fixed, interval, known, plural, pValue, seconds, signed, UNKNOWN, whole };
