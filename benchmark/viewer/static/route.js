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

function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useLayoutEffect(() => {
    const changed = () => setRoute(readRoute());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

export { address, changeQuery, go, useRoute };
