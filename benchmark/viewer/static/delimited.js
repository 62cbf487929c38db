// Rows of texts as CSV and as Markdown, for other programs.

const NUMBER = /^[+-]?[\d.,]+(?!\S)/;

/**
 * A text as other programs read it: a minus is a hyphen, what is not known is empty.
 * @param {string} text
 */
const plain = (text) => text.replace(/−(?=\d)/g, "-").replace(/^–$/, "");

/**
 * A cell of CSV. What a spreadsheet would run as a formula gets an apostrophe: names and answers are not ours.
 * @param {string} text
 */
function csvCell(text) {
  const shown = plain(text);
  const safe = /^[=@+\t\r-]/.test(shown) && !NUMBER.test(shown) ? `'${shown}` : shown;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {string[][]} rows the first holds titles */
const csvOf = (rows) =>
  `${apart(rows)
    .map((row) => row.map(csvCell).join(","))
    .join("\n")}\n`;

const WITH_INTERVAL = /^(\S+) \[(\S+), (\S+)\]$/;

/**
 * Rows in which a figure with an interval takes three columns.
 * @param {string[][]} rows the first holds titles
 */
function apart([titles, ...rows]) {
  const isWide = titles.map((_, place) => rows.some((row) => WITH_INTERVAL.test(row[place] ?? "")));
  const split = (/** @type {string} */ cell) => WITH_INTERVAL.exec(cell)?.slice(1) ?? [cell, "", ""];
  return [
    titles.flatMap((title, place) => (isWide[place] ? [title, `${title} low`, `${title} high`] : [title])),
    ...rows.map((row) => row.flatMap((cell, place) => (isWide[place] ? split(cell) : [cell]))),
  ];
}

/** @param {string} text */
const markdownCell = (text) => text.replace(/[\\`*_[\]<>|]/g, "\\$&").replace(/\s+/g, " ");

/** @param {string[][]} rows the first holds titles */
function markdownOf([titles, ...rows]) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const body = rows.map((row) => line(row.map(markdownCell)));
  return `${[line(titles.map(markdownCell)), line(titles.map(() => "---")), ...body].join("\n")}\n`;
}

export { csvOf, markdownOf };
