// Every view has an address in the fragment: #/view/part/part?name=value
import { useLayoutEffect, useState } from "./dom.js";

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// Half a character cannot stand in an address.
const wellFormed = (text) => text.replace(/\p{Cs}/gu, "\ufffd");

function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const [view = "board", ...parts] = path.split("/").filter(Boolean).map(decoded);
  return { view, parts, query: Object.fromEntries(new URLSearchParams(query)) };
}

function address(view, parts = [], query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const tail = new URLSearchParams(given).toString();
  return `#/${[view, ...parts].map((part) => encodeURIComponent(wellFormed(part))).join("/")}${tail ? `?${tail}` : ""}`;
}

const go = (to) => {
  location.hash = to;
};

// A filter or an order is part of the address, but no step back in the history.
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
