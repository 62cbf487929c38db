// Buttons that take a table or a link to its view along: what is shown, in the order in which it is shown.
import { csvOf, markdownOf } from "./delimited.js";
import { elementOf, html, useLayoutEffect, useRef, useState } from "./dom.js";

/**
 * The text of a cell as it is read aloud: signs that only eyes see are left out.
 * @param {Element} cell
 */
function textOf(cell) {
  const copy = /** @type {Element} */ (cell.cloneNode(true));
  const unread = "[aria-hidden], .explain, svg";
  for (const each of copy.querySelectorAll(cell.matches("th.name") ? `${unread}, .flag, .apart-note` : unread))
    each.remove();
  for (const each of copy.querySelectorAll("small, .flag")) each.before(" ");
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
}

/**
 * The rows of a table, the titles first; a cell over several columns is followed by empty ones. Flags of names are a
 * column of their own, the last one.
 * @param {Element | null | undefined} region that holds it
 */
function rowsOf(region) {
  const rows = [...(region?.querySelectorAll("tr") ?? [])];
  const flags = rows.map((row) => [...row.querySelectorAll("th.name .flag")].map(textOf).join(", "));
  return rows.map((row, place) => [
    ...[...row.cells].flatMap((cell) => [textOf(cell), ...Array(cell.colSpan - 1).fill("")]),
    ...(flags.some(Boolean) ? [place ? flags[place] : "flags"] : []),
  ]);
}

/**
 * @param {{ region?: { current: Element | null } }} props that holds the table; without one, there is the link alone
 */
function Take({ region }) {
  const [refused, setRefused] = useState("");
  const [done, setDone] = useState("");
  const [isLocal, setIsLocal] = useState(false);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useLayoutEffect(() => {
    field.current?.select();
    return undefined;
  }, [refused]);
  /** @type {[string, () => string][]} */
  const ways = [
    ["CSV", () => csvOf(rowsOf(region?.current))],
    ["Markdown", () => markdownOf(rowsOf(region?.current))],
    ["link to this view", () => location.href],
  ];
  const saveCsv = () => {
    const name = region?.current?.querySelector("caption")?.textContent || region?.current?.ariaLabel || document.title;
    save(
      `${fileName(name)}.csv`,
      URL.createObjectURL(new Blob([csvOf(rowsOf(region?.current))], { type: "text/csv" })),
    );
  };
  const ending = location.hash || "#/board";
  const copy = async (/** @type {string} */ name, /** @type {string} */ text) => {
    try {
      await navigator.clipboard.writeText(text);
      setRefused("");
      setDone(name);
      setIsLocal([location.href, ending].includes(text) && location.protocol === "file:");
      elementOf("announced").textContent = "copied";
    } catch {
      // A browser may keep the clipboard from a page that is opened from disk.
      setDone("");
      setRefused(text);
    }
  };
  return html`<div class="take">
    <span>Copy</span>${ways.map(
      ([name, text]) => html`<button type="button" onClick=${() => copy(name, text())}
        ><span class="hidden">copy </span>${name}${done === name && " ✓"}</button>`,
    )}
    ${
      region &&
      html`<span>Save</span><button type="button" onClick=${saveCsv}><span class="hidden">save as </span>CSV</button>`
    }
    ${
      isLocal &&
      html`<p class="legend" role="status">This page is a file on your machine, so the link opens only here. To show
        this view to others, send them the file and the end of the address, which they add to theirs:${" "}
        <code>${ending}</code>${" "}
        <button type="button" onClick=${() => copy("end of the address", ending)}>copy the end</button></p>`
    }
    ${
      refused &&
      html`<label>This browser does not let the page copy. Press Ctrl+C (or Cmd+C):
        <textarea ref=${field} readonly rows="4" spellcheck=${false} value=${refused}></textarea></label>`
    }
  </div>`;
}

/**
 * A table with the buttons that copy it.
 * @param {{ label?: string, children?: unknown }} props `label` names a table that scrolls
 */
function Copied({ label, children }) {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  const scrolls = label ? { class: "scroll", role: "region", "aria-label": label, tabindex: "0" } : {};
  return html`<div><div ref=${region} ...${scrolls}>${children}</div><${Take} region=${region} /></div>`;
}

/** @param {string} title */
const fileName = (title) => title.toLowerCase().replaceAll(/[^a-z0-9+]+/g, "-");

/**
 * Gives a text or a picture to the reader as a file.
 * @param {string} name
 * @param {string} url
 */
function save(name, url) {
  const link = document.createElement("a");
  link.download = name;
  link.href = url;
  link.click();
}

/** Pixels of a saved picture for one of the screen. */
const SHARPNESS = 2;

/**
 * Buttons that save a picture as a file.
 * @param {{ title: string, asSvg: () => string | Promise<string>, asPng: () => Promise<string> }} props
 *   `asSvg` makes its text, `asPng` an address of it; an empty one saves nothing.
 */
function Saves({ title, asSvg, asPng }) {
  const name = fileName(title);
  const saveSvg = async () => {
    const text = await asSvg();
    if (text) save(`${name}.svg`, URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })));
  };
  const savePng = async () => {
    const url = await asPng();
    if (url) save(`${name}.png`, url);
  };
  return html`<div class="take"><span>Save</span>
    <button type="button" onClick=${saveSvg}><span class="hidden">save as </span>SVG</button>
    <button type="button" onClick=${savePng}><span class="hidden">save as </span>PNG</button></div>`;
}

export { Copied, Saves, SHARPNESS, Take };
