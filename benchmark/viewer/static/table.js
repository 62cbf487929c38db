// A table that sorts by its headings; the order is part of the address.
import { html, inputOf, useEffect, useLayoutEffect, useRef, useState } from "./dom.js";
import { beyondText } from "./format.js";
import { pushQuery, replaceQuery } from "./route.js";
import { Take } from "./take.js";

/** @typedef {string | number | boolean | null | undefined} Sortable */

/**
 * A column: `value` is what rows are sorted by, `cell` what they show.
 * @template Row
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {string} [hint]
 * @property {"number" | "model" | "name" | "aside" | ""} kind
 * @property {(row: Row) => Sortable} value
 * @property {(row: Row) => unknown} cell
 */

/** @param {Sortable} value */
const isKnown = (value) => value !== null && value !== undefined && value !== "" && !Number.isNaN(value);

const collator = new Intl.Collator("en", { numeric: true });

/**
 * @param {Sortable} a
 * @param {Sortable} b
 */
const order = (a, b) =>
  typeof a === "string" || typeof b === "string" ? collator.compare(String(a), String(b)) : Number(a) - Number(b);

/**
 * The rows by a column's key, behind a minus for descending; rows without a value come last either way.
 * @template Row
 * @param {Row[]} rows
 * @param {Column<Row>[]} columns
 * @param {string} sort
 */
function sortRows(rows, columns, sort) {
  const column = columns.find(({ key }) => key === sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  return rows
    .map((row, place) => ({ row, place, value: column.value(row) }))
    .sort((a, b) => {
      if (!isKnown(a.value) || !isKnown(b.value)) {
        return Number(isKnown(b.value)) - Number(isKnown(a.value)) || a.place - b.place;
      }
      return sign * order(a.value, b.value) || a.place - b.place;
    })
    .map(({ row }) => row);
}

/**
 * Leads to words of this view, such as those that say what a column is.
 * @param {string} id
 */
function toWord(id) {
  const word = document.getElementById(id);
  word?.scrollIntoView({ block: "center" });
  word?.focus({ preventScroll: true });
}

/**
 * @param {{ column: Column<any>, sort: string, explain?: () => void, isExplained: boolean }} props `explain` shows what
 *   the column is.
 */
function ColumnHeading({ column, sort, explain, isExplained }) {
  const active = sort.replace(/^-/, "") === column.key;
  const down = sort.startsWith("-");
  // The first click shows what is of interest: high figures, names from A.
  const first = ["number", "model"].includes(column.kind) ? `-${column.key}` : column.key;
  const next = active ? (down ? column.key : `-${column.key}`) : first;
  const direction = active ? (down ? "descending" : "ascending") : undefined;
  return html`<th scope="col" class=${column.kind} aria-sort=${direction}>
    <button type="button" title=${column.hint} onClick=${() => replaceQuery({ sort: next })}>
      <span>${column.title}</span><i aria-hidden="true">${active ? (down ? "▼" : "▲") : ""}</i>
    </button>
    ${
      explain &&
      column.hint &&
      html`<button
        type="button"
        class="explain"
        aria-label=${`what ${column.title} means`}
        aria-expanded=${isExplained}
        onClick=${explain}
        >?</button>`
    }
  </th>`;
}

const ALL_SEEN = "← first columns";

/** Says how many columns of a table hide beyond its edge, and leads to them. */
function useBeyond() {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  const [state, setState] = useState("");
  const measure = () => {
    const element = region.current;
    if (!element) return;
    const left = element.getBoundingClientRect().left + element.clientLeft;
    const ends = [...element.querySelectorAll("thead th")].map((each) => each.getBoundingClientRect().right - left);
    const isWide = element.scrollWidth > element.clientWidth + 1;
    // A text that is what it was draws nothing again.
    setState(isWide ? beyondText(ends, element.clientWidth) || ALL_SEEN : "");
  };
  useLayoutEffect(() => {
    measure();
    return undefined;
  });
  useEffect(() => {
    const element = region.current;
    element?.addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      element?.removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, []);
  const go = () => {
    const element = region.current;
    if (state === ALL_SEEN) element?.scrollTo({ left: 0 });
    else element?.scrollBy({ left: element.clientWidth * 0.9 });
  };
  const hint = state && html`<p class="beyond"><button type="button" onClick=${go}>${state}</button></p>`;
  return { region, hint };
}

/**
 * @template Row
 * @param {{
 *   label: string,
 *   columns: Column<Row>[],
 *   rows: Row[],
 *   sort: string,
 *   keyOf: (row: Row) => string,
 *   classOf?: (row: Row) => string | undefined,
 *   explained?: boolean,
 * }} props `explained`: each heading has a button that says what the column is
 */
function Table({ label, columns, rows, sort, keyOf, classOf, explained = false }) {
  const { region, hint } = useBeyond();
  const [asked, setAsked] = useState("");
  const about = columns.find(({ key }) => key === asked);
  const explain = (/** @type {string} */ key) => (explained ? () => setAsked(asked === key ? "" : key) : undefined);
  return html`${hint}${
    explained && html`<p class="explained" role="status">${about && html`<b>${about.title}</b>: ${about.hint}`}</p>`
  }<div class="scroll" role="region" aria-label=${label} tabindex="0" ref=${region}>
    <table>
      <caption class="hidden">${label}</caption>
      <thead>
        <tr>
          ${columns.map(
            (column) => html`<${ColumnHeading}
              key=${column.key}
              column=${column}
              sort=${sort}
              explain=${explain(column.key)}
              isExplained=${column.key === asked}
            />`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${keyOf(row)} class=${classOf?.(row)}>
            ${columns.map((column) =>
              column.kind === "name"
                ? html`<th scope="row" class="name">${column.cell(row)}</th>`
                : html`<td class=${column.kind}>${column.cell(row)}</td>`,
            )}
          </tr>`,
        )}
      </tbody>
    </table>
  </div><${Take} region=${region} />`;
}

/** @param {{ label: string, value: string | undefined }} props */
function Filter({ label, value }) {
  return html`<label class="field"
    ><span>${label}</span>
    <input
      type="search"
      id="filter"
      value=${value ?? ""}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {Event} */ event) => replaceQuery({ q: inputOf(event) })}
    />
  </label>`;
}

/**
 * @param {{ label: string, name: string, value: string | undefined, options: string[], all?: boolean }} props `all`
 *   says whether none of them may be chosen.
 */
function Choice({ label, name, value, options, all = true }) {
  return html`<label class="field"
    ><span>${label}</span>
    <select value=${value ?? ""} onChange=${(/** @type {Event} */ event) => pushQuery({ [name]: inputOf(event) })}>
      ${all && html`<option value="">all</option>`}
      ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}
    </select>
  </label>`;
}

/**
 * Whether a text stands in any of the values, in any case.
 * @param {string | undefined} query
 * @param {(string | undefined)[]} values
 */
function holds(query, ...values) {
  const wanted = (query ?? "").trim().toLowerCase();
  return !wanted || values.some((value) => (value ?? "").toLowerCase().includes(wanted));
}

export { Choice, Filter, holds, sortRows, Table, toWord };
