// Figures as people read them. What a file does not say is a dash.
const UNKNOWN = "–";

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

const fixed = (value, digits = 1) => {
  if (!known(value)) return UNKNOWN;
  const text = Math.abs(value).toFixed(digits);
  // Nothing has no sign.
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
};

const signed = (value, digits = 1) => {
  const text = fixed(value, digits);
  return known(value) && !text.startsWith("−") ? `+${text}` : text;
};

const percent = (value, digits = 0) => (known(value) ? `${(100 * value).toFixed(digits)}%` : UNKNOWN);

// A share of cases, rounded down: 279 of 280 is not all.
const share = (value) => (known(value) ? `${Math.floor(100 * value + 1e-9)}%` : UNKNOWN);

const seconds = (ms) => (known(ms) ? (ms / 1000).toFixed(2) : UNKNOWN);

const times = (value) => (known(value) ? `${value.toFixed(0)}×` : UNKNOWN);

const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en") : UNKNOWN);

const dollars = (value) => (known(value) ? value.toFixed(3) : UNKNOWN);

const words = (text) => (text === null || text === undefined || text === "" ? UNKNOWN : String(text).replaceAll("_", " "));

const pValue = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

const interval = (low, high, form = fixed) =>
  known(low) && known(high) ? `[${form(low)}, ${form(high)}]` : "";

const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

export { dollars, fixed, interval, pValue, percent, plural, seconds, share, signed, times, whole, words };
