// A table that sorts by its headings; the order is part of the address.
import { html } from "./dom.js";
import { changeQuery } from "./route.js";

const isKnown = (value) => value !== null && value !== undefined && value !== "" && !Number.isNaN(value);

// `sort` is a column's key, behind a minus for descending; rows without a value come last either way.
function sortRows(rows, columns, sort) {
  const column = columns.find(({ key }) => key === sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const collator = new Intl.Collator("en", { numeric: true });
  const order = (a, b) => (typeof a === "string" || typeof b === "string" ? collator.compare(a, b) : a - b);
  return rows
    .map((row, place) => ({ row, place, value: column.value(row) }))
    .sort((a, b) => {
      if (!isKnown(a.value) || !isKnown(b.value)) return isKnown(b.value) - isKnown(a.value) || a.place - b.place;
      return sign * order(a.value, b.value) || a.place - b.place;
    })
    .map(({ row }) => row);
}

function ColumnHeading({ column, sort }) {
  const active = sort.replace(/^-/, "") === column.key;
  const down = sort.startsWith("-");
  const name = html`<span>${column.title}</span>`;
  // The first click shows what is of interest: high figures, names from A.
  const next = active ? (down ? column.key : `-${column.key}`) : column.kind === "number" ? `-${column.key}` : column.key;
  return html`<th scope="col" class=${column.kind} aria-sort=${active ? (down ? "descending" : "ascending") : undefined}>
    <button type="button" title=${column.hint} onClick=${() => changeQuery({ sort: next })}>
      ${name}<i aria-hidden="true">${active ? (down ? "▼" : "▲") : ""}</i>
    </button>
  </th>`;
}

// Columns: key, title, hint, kind ("number", "name", "aside" or none), value(row) to sort by, cell(row) to show.
function Table({ label, columns, rows, sort, keyOf, classOf }) {
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
    <table>
      <caption class="hidden">${label}</caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<${ColumnHeading} key=${column.key} column=${column} sort=${sort} />`)}
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
  </div>`;
}

function Filter({ label, value }) {
  return html`<label class="field"
    ><span>${label}</span>
    <input
      type="search"
      id="filter"
      value=${value ?? ""}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(event) => changeQuery({ q: event.target.value })}
    />
  </label>`;
}

function Choice({ label, name, value, options }) {
  return html`<label class="field"
    ><span>${label}</span>
    <select value=${value ?? ""} onChange=${(event) => changeQuery({ [name]: event.target.value })}>
      <option value="">all</option>
      ${options.map((option) => html`<option key=${option} value=${option}>${option.replaceAll("_", " ")}</option>`)}
    </select>
  </label>`;
}

// Whether a text stands in any of the values, in any case.
const holds = (query, ...values) => {
  const wanted = (query ?? "").trim().toLowerCase();
  return !wanted || values.some((value) => String(value ?? "").toLowerCase().includes(wanted));
};

export { Choice, Filter, Table, holds, sortRows };
