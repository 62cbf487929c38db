// Every view has an address in the fragment: #/view/part/part?name=value
import { useLayoutEffect, useState } from "./dom.js";
import { START } from "./store.js";

/** @typedef {Record<string, string>} Query */
/** @typedef {{ view: string, parts: string[], query: Query }} Route */

/** @param {string} text */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Half a character cannot stand in an address.
 * @param {string} text
 */
const wellFormed = (text) => text.replace(/\p{Cs}/gu, "\ufffd");

/** @returns {Route} */
function readRoute(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  const [view = START, ...parts] = path.split("/").filter(Boolean).map(decoded);
  return { view, parts, query: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * @param {string} view
 * @param {string[]} parts
 * @param {Query} query
 */
function address(view, parts = [], query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const tail = new URLSearchParams(given).toString();
  return `#/${[view, ...parts].map((part) => encodeURIComponent(wellFormed(part))).join("/")}${tail ? `?${tail}` : ""}`;
}

/** @param {string} to */
const go = (to) => {
  location.hash = to;
};

/** @param {Query} changes */
function changed(changes) {
  const { view, parts, query } = readRoute();
  return address(view, parts, { ...query, ...changes });
}

/**
 * Changes the address without a step in the history: each letter that somebody types would be one.
 * @param {Query} changes
 */
const replaceQuery = (changes) => location.replace(changed(changes));

/**
 * Changes the address as one step in the history, so that the browser's Back button undoes a choice.
 * @param {Query} changes
 */
const pushQuery = (changes) => go(changed(changes));

// Each step of the history keeps how far its view was scrolled; a new step has none.
const SETTLED_MS = 150;
const WAITED_MS = 10_000;
const BY_HAND = ["wheel", "touchstart", "pointerdown", "keydown"];
history.scrollRestoration = "manual";
/** @type {number | undefined} */
let scrolled;
// The address whose view is drawn: the browser moves on to the next step of the history before that step's view is.
let drawn = location.hash;
addEventListener("scroll", () => {
  clearTimeout(scrolled);
  scrolled = setTimeout(keepPlace, SETTLED_MS);
});
// Whoever leaves by a link has scrolled, but may not have waited.
addEventListener(
  "click",
  ({ target }) => {
    if (target instanceof Element && target.closest("a")) keepPlace();
  },
  { capture: true },
);
addEventListener("keydown", keepPlace, { capture: true });

function keepPlace() {
  clearTimeout(scrolled);
  if (drawn === location.hash) history.replaceState({ y: scrollY }, "");
}

/**
 * Scrolls to where this step of the history was left, as soon as the view is as long as it was; or to its top. Whoever
 * scrolls by hand in the meantime stays where that led.
 */
function scrollBack() {
  clearTimeout(scrolled);
  const y = Number(history.state?.y ?? 0);
  const until = performance.now() + WAITED_MS;
  const done = new AbortController();
  for (const input of BY_HAND) addEventListener(input, () => done.abort(), { signal: done.signal });
  const step = () => {
    if (done.signal.aborted) return;
    scrollTo(0, y);
    if (scrollY < y - 1 && performance.now() < until) requestAnimationFrame(step);
    else done.abort();
  };
  step();
  return () => done.abort();
}

function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useLayoutEffect(() => {
    const moved = () => setHash(location.hash);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useLayoutEffect(() => {
    drawn = hash;
  }, [hash]);
  return readRoute(hash);
}

export { address, go, pushQuery, replaceQuery, scrollBack, useRoute };
