// Every view has an address in the fragment: #/view/part/part?name=value
import { useLayoutEffect, useState } from "./dom.js";

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
function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const [view = "board", ...parts] = path.split("/").filter(Boolean).map(decoded);
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

/**
 * A filter or an order is part of the address, but no step back in the history.
 * @param {Query} changes
 */
function changeQuery(changes) {
  const { view, parts, query } = readRoute();
  location.replace(address(view, parts, { ...query, ...changes }));
}

// Each step of the history keeps how far its view was scrolled; a new step has none.
const SETTLED_MS = 150;
const WAITED_MS = 2000;
history.scrollRestoration = "manual";
/** @type {number | undefined} */
let scrolled;
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
  history.replaceState({ y: scrollY }, "");
}

/** Scrolls to where this step of the history was left, as soon as the view is as long as it was; or to its top. */
function scrollBack() {
  clearTimeout(scrolled);
  const y = Number(history.state?.y ?? 0);
  const until = performance.now() + WAITED_MS;
  let wanted = true;
  const step = () => {
    if (!wanted) return;
    scrollTo(0, y);
    if (scrollY < y - 1 && performance.now() < until) requestAnimationFrame(step);
  };
  step();
  return () => {
    wanted = false;
  };
}

function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useLayoutEffect(() => {
    const changed = () => setRoute(readRoute());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

export { address, changeQuery, go, scrollBack, useRoute };
