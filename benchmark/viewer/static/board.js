// The leaderboard: who is best, how sure that is, and what else is to be known of each.
import { againstColumn } from "./against.js";
import { Chooser } from "./chooser.js";
import { Heading, html, inputOf, isChecked } from "./dom.js";
import { figureText, interval, plural, UNKNOWN, whole } from "./format.js";
import { address, pushQuery, replaceQuery } from "./route.js";
import { groupedNotes, headlineOf, ranksOf } from "./standing.js";
import { allPairs, figureOf, overview, resultOf, results, useLoaded } from "./store.js";
import { Choice, Filter, holds, sortRows, Table, toWord } from "./table.js";

/** @import { BoardColumn, BoardInfo, PageBoardRow, Pair, RankInfo } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

const MOST_CHOSEN = 4;
const INCOMPLETE = "incomplete";

const boards = new Map(
  overview.boards.flatMap((board) =>
    [...board.results, ...board.references.map(({ key }) => key)].map((key) => /** @type {const} */ ([key, board])),
  ),
);

/**
 * Results over the same cases of one corpus, scored by one scorer.
 * @param {PageBoardRow} row
 */
const boardOf = (row) => boards.get(row.key);

/**
 * Gold, and the best baseline: lines to measure by.
 * @param {PageBoardRow} row
 */
const lineOf = (row) => boardOf(row)?.lines.find((line) => line.key === row.key);

/** @param {PageBoardRow} row */
const isRival = (row) => !row.is_reference;

/**
 * A result, which has a view of its own; gold and baselines may be no more than what results say of their cases.
 * @param {PageBoardRow} row
 */
const isResult = (row) => row.key >= 0;

/**
 * @param {{ low: number, high: number } | undefined} ends
 * @param {number} scale
 */
const scaled = (ends, scale) => ends && { low: ends.low * scale, high: ends.high * scale };

/** @param {{ row: PageBoardRow, value: number, figure: string }} props */
function Bar({ row, value, figure }) {
  const { scale } = figureOf(figure);
  const lines = row.lines
    ? [row.lines.floor, row.lines.ceiling]
    : (boardOf(row)?.lines ?? []).map((line) => line.score);
  const [score, ends] = [value * scale, scaled(row.intervals[figure], scale)];
  return html`<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="track" width="100" height="12" />
    ${!lineOf(row) && !row.part && html`<rect class="fill" y="3" width=${score} height="6" />`}
    ${row.part && html`<line class="apart" x1="0" x2=${score} y1="6" y2="6" />`}
    ${!row.part && lines.map((line) => html`<line class="line" x1=${line} x2=${line} y1="0" y2="12" />`)}
    ${ends && html`<line class="whisker" x1=${ends.low} x2=${ends.high} y1="6" y2="6" />`}
    <line class="point" x1=${score} x2=${score} y1="1" y2="11" />
  </svg>`;
}

/** @param {{ row: PageBoardRow, only?: string[] }} props `only` are the flags that matter where they stand */
function Flags({ row, only = row.flags }) {
  return row.flags
    .filter((flag) => only.includes(flag))
    .map(
      (flag) => html` <span class=${`flag ${flag.split(" ")[0]}`} title=${overview.flags[flag]}
      >${flag === INCOMPLETE && row.part ? `${flag}: ${row.part}` : flag}</span>`,
    );
}

/** @param {{ row: PageBoardRow, chosen: string[], toggle: (id: string) => void, isLast: boolean }} props */
function Name({ row, chosen, toggle, isLast }) {
  const line = lineOf(row);
  const isChosen = chosen.includes(row.id);
  return html`<span class="pick">
    ${
      !line &&
      isResult(row) &&
      html`<input
      type="checkbox"
      aria-label=${`compare ${row.label}`}
      checked=${isChosen}
      disabled=${!row.answered || (!isChosen && chosen.length >= MOST_CHOSEN)}
      onChange=${() => toggle(row.id)}
    />`
    }
    <span>
      ${isResult(row) ? html`<a href=${address("scenario", [row.id])}>${row.label}</a>` : row.label}${
        line && html` <${LineFlag} name=${line.is_ceiling ? "ceiling" : "floor"} />`
      }
      <${Flags} row=${row} />
      ${
        row.part &&
        html`<small class="apart-note">scored on fewer cases than the others${isLast && ", so it stands last"}</small>`
      }
    </span>
  </span>`;
}

/** @param {{ name: string }} props */
const LineFlag = ({ name }) => html`<span class="flag line" title=${overview.marks[name]}>${name}</span>`;

/** @param {{ row: PageBoardRow, name: string }} props */
function Figure({ row, name }) {
  const figure = figureOf(name);
  if (figure.needs_all && row.part) return html`<span title="not told of an incomplete run">${UNKNOWN}</span>`;
  const doubted = figure.doubted_by && row.flags.includes(figure.doubted_by);
  return html`<b class=${`of-${name}${doubted ? " unsure" : ""}`}>${figureText(figure, row.figures[name])}</b>`;
}

/** @param {{ row: PageBoardRow, column: BoardColumn }} props */
function Figures({ row, column }) {
  const [first, ...rest] = column.figures;
  const score = row.figures[first];
  if (score === undefined) return UNKNOWN;
  return html`<span class=${column.drawn ? "score" : "figures"}>
    ${column.drawn && html`<${Bar} row=${row} value=${score} figure=${first} />`}
    <${Figure} row=${row} name=${first} />${rest.map((name) => html`/<${Figure} row=${row} name=${name} />`)}
    ${column.drawn && html`<small>${interval(row.intervals[first], (end) => figureText(figureOf(first), end))}</small>`}
  </span>`;
}

/** @param {BoardColumn} column */
const hintOf = ({ figures }) =>
  figures
    .map(figureOf)
    .map(({ title, hint }) => (figures.length > 1 ? `${title}: ${hint}` : hint))
    .join("; ");

/**
 * @param {{ is_reference?: boolean }} row
 * @param {RankInfo | null | undefined} rank
 */
const rankText = ({ is_reference }, rank) => {
  if (!rank) return is_reference ? "ref" : UNKNOWN;
  return `${rank.place}${rank.tied ? "=" : ""}`;
};

/**
 * @param {Map<number, RankInfo>} ranks
 * @param {string[]} chosen
 * @param {(id: string) => void} toggle
 * @param {boolean} isBestFirst
 * @param {Column<PageBoardRow>[]} measured a column that measures results by one of them, if there is one
 * @returns {Column<PageBoardRow>[]}
 */
function boardColumns(ranks, chosen, toggle, isBestFirst, measured) {
  return [
    {
      key: "rank",
      title: "rank",
      hint: overview.rank_hint,
      kind: "",
      value: (row) => ranks.get(row.key)?.place,
      cell: (row) => rankText(row, ranks.get(row.key)),
    },
    {
      key: "result",
      title: "result",
      hint: "model, device and settings",
      kind: "name",
      value: (row) => row.label,
      cell: (row) => html`<${Name} row=${row} chosen=${chosen} toggle=${toggle} isLast=${isBestFirst} />`,
    },
    ...measured,
    {
      key: "track",
      title: "track",
      hint: "where the model runs",
      kind: "aside",
      value: (row) => row.track,
      cell: (row) => row.track,
    },
    ...overview.columns.map(
      /** @returns {Column<PageBoardRow>} */ (column) => ({
        key: column.figures[0],
        title: column.title,
        hint: hintOf(column),
        kind: "number",
        value: (row) =>
          figureOf(column.figures[0]).needs_all && row.part ? undefined : row.figures[column.figures[0]],
        cell: (row) => html`<${Figures} row=${row} column=${column} />`,
      }),
    ),
    ...(overview.model_columns ?? []).map(
      /** @returns {Column<PageBoardRow>} */ (title) => ({
        key: title,
        title,
        hint: overview.model_hints?.[title],
        kind: "number",
        value: ({ about_model }) => about_model?.figures?.[title] ?? about_model?.texts?.[title],
        cell: ({ about_model }) => about_model?.texts?.[title] ?? UNKNOWN,
      }),
    ),
  ];
}

/**
 * The results that the filters leave; all views of many results share them.
 * @param {Query} query
 */
const chosenResults = (query) =>
  results.filter(
    (row) =>
      row.is_yardstick ||
      ((isRival(row) || query.all === "1") &&
        (!query.track || row.track === query.track) &&
        (!query.phase || row.phase === query.phase) &&
        (!query.quant || row.about_model?.quantization === query.quant) &&
        holds(query.q, row.label, row.model, row.phase, ...row.notes)),
  );

/** @param {{ query: Query, pairs: Pair[] | null | undefined }} props `pairs` are null where the page has too many */
function MeasureBy({ query, pairs }) {
  const offered = results.filter((row) => isRival(row) && row.answered);
  const change = (/** @type {Event} */ event) => pushQuery({ by: inputOf(event) });
  return html`<label class="field"><span>Difference from</span>
    <select value=${resultOf(query.by ?? "")?.id ?? ""} disabled=${pairs === null} onChange=${change}>
      <option value="">${pairs === null ? "too many results" : "none"}</option>
      ${offered.map(({ id, label }) => html`<option key=${id} value=${id}>${label}</option>`)}
    </select></label>`;
}

/** @param {{ query: Query, children?: unknown }} props */
function ResultFilters({ query, children }) {
  /** @param {(row: PageBoardRow) => string} value */
  const distinct = (value) => [...new Set(results.filter(isRival).map(value).filter(Boolean))].sort();
  const quantizations = distinct((row) => row.about_model?.quantization ?? "");
  const change = (/** @type {Event} */ event) => pushQuery({ all: isChecked(event) ? "1" : "" });
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${Filter} label="Find" value=${query.q} />
    <${Choice} label="Track" name="track" value=${query.track} options=${distinct((row) => row.track)} />
    <${Choice} label="Phase" name="phase" value=${query.phase} options=${distinct((row) => row.phase)} />
    ${
      quantizations.length > 1 &&
      html`<${Choice} label="Quantization" name="quant" value=${query.quant} options=${quantizations} />`
    }
    ${
      results.some((row) => !isRival(row) && !row.is_yardstick) &&
      html`<label class="check"><input type="checkbox" checked=${query.all === "1"} onChange=${change} />
      all reference rows</label>`
    }
    ${children}
  </form>`;
}

/** @param {{ board: BoardInfo, shown: PageBoardRow[] }} props */
function Headline({ board, shown }) {
  const all = results.filter((row) => boardOf(row) === board);
  const { best: leaders, words } = headlineOf(board, all, shown);
  if (!leaders.length) return html`<p class="lead">${words}</p>`;
  const best = words ? "Best" : "Best of those shown";
  const names = leaders
    .slice(0, 5)
    .map((row, index) => html`${index > 0 && ", "}<a href=${address("scenario", [row.id])}>${row.label}</a>`);
  return html`<p class="lead">
    ${leaders.length > 1 ? `${best}, statistically tied: ` : `${best}: `}${names}${
      leaders.length > 5 && ` and ${leaders.length - 5} more`
    }.${!board.lines.length && " No baseline was measured on these cases."}
  </p>`;
}

/**
 * The cases of a board, and in small letters what else tells it from others.
 * @param {{ about: string }} props
 */
function BoardTitle({ about }) {
  const [cases, ...rest] = about.split(", ");
  return html`<h2>${cases}${rest.length > 0 && html`<small>, ${rest.join(", ")}</small>`}</h2>`;
}

const MOST_NAMED = 5;

/** @param {{ rows: PageBoardRow[], all: PageBoardRow[] }} props */
function Named({ rows, all }) {
  if (rows.length > MOST_NAMED && rows.length === all.length) return `all ${plural(rows.length, "result")}`;
  const names = rows
    .slice(0, MOST_NAMED)
    .map((row, index) => html`${index > 0 && ", "}<a href=${address("scenario", [row.id])}>${row.label}</a>`);
  return html`${names}${rows.length > MOST_NAMED && ` and ${rows.length - MOST_NAMED} more`}`;
}

/** @param {{ board: BoardInfo, shown: PageBoardRow[] }} props */
function Notes({ board, shown }) {
  const noted = shown.filter((row) => row.notes.length && isRival(row));
  if (!noted.length && !board.notes.length) return null;
  return html`<section><h2>Before you compare</h2>
    <ul class="notes">
      ${board.notes.map((note) => html`<li>${note}</li>`)}
      ${groupedNotes(noted).map(([note, rows]) => html`<li><${Named} rows=${rows} all=${noted} />: ${note}</li>`)}
    </ul></section>`;
}

/** What is known of the scorer that gave these scores. */
function Doubts() {
  const { figures = 0, mismatch, missed = [] } = overview.validity ?? {};
  if (mismatch || !missed.length) return null;
  return html`<p class="legend">
    <a href=${address("validity")}>How far to trust the scores</a>: this scorer misses ${missed.length} of its${" "}
    ${plural(figures, "target")}.</p>`;
}

const LEFT_OUT = "left-out";
const cutRuns = results.filter((row) => isRival(row) && row.part);
const failedRuns = results.filter((row) => isRival(row) && row.failures?.length);

/** Leads to what did not run to its end, and to files that are not on the board. */
function ToLeftOut() {
  const counts = [
    overview.skipped.length && `${whole(overview.skipped.length)} left out`,
    cutRuns.length && `${whole(cutRuns.length)} incomplete`,
    failedRuns.length && `${whole(failedRuns.length)} with failed answers`,
  ].filter(Boolean);
  return (
    counts.length > 0 && html`<button type="button" onClick=${() => toWord(LEFT_OUT)}>${counts.join(", ")}</button>`
  );
}

function LeftOut() {
  if (!overview.skipped.length && !cutRuns.length && !failedRuns.length) return null;
  return html`<section><h2 id=${LEFT_OUT} tabindex="-1">What failed or was left out</h2>
    <ul class="notes">
      ${overview.skipped.map((error) => html`<li>${error}</li>`)}
      ${cutRuns.map(
        ({ id, label, part }) => html`<li><a href=${address("scenario", [id])}>${label}</a>: incomplete, ${part}; it
          is in the table, but has no rank</li>`,
      )}
      ${failedRuns.map(
        ({ id, label, failures = [] }) =>
          html`<li><a href=${address("scenario", [id])}>${label}</a>: ${failures.map(
            ({ reason, count }, index) => html`${index > 0 && ", "}<a href=${address("scenario", [id], { why: reason })}
            >${plural(count, reason)}</a>`,
          )}</li>`,
      )}
    </ul></section>`;
}

/** @param {{ shown: PageBoardRow[], chosen: string[] }} props */
function Chosen({ shown, chosen }) {
  const all = results.filter(isRival).length;
  const rivals = shown.filter(isRival).length;
  const ready = chosen.length > 1;
  return html`<div class="beside">
    <p role="status">${rivals === all ? plural(rivals, "result") : `${rivals} of ${plural(all, "result")}`}</p>
    <${ToLeftOut} />
    <a
      class=${`button ${ready ? "" : "off"}`}
      aria-disabled=${!ready}
      href=${ready ? address("compare", chosen) : undefined}
      >Compare ${chosen.length ? `${chosen.length} chosen` : "(choose two to four)"}</a
    >
  </div>`;
}

/**
 * Names in an address, with commas between.
 * @param {string | undefined} text
 */
const listed = (text) => (text ? text.split(",").map(decodeURIComponent) : []);

/** @param {string} text */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const BEST_FIRST = "-core";

/**
 * A score over some of the cases is none over all of them: where the best stand first, such runs stand last.
 *
 * @param {PageBoardRow[]} rows
 * @param {string} sort
 */
const boardRows = (rows, sort) => {
  if (sort !== BEST_FIRST) return rows;
  const isCut = (/** @type {PageBoardRow} */ row) => row.flags.includes(INCOMPLETE);
  return [...rows.filter((row) => !isCut(row)), ...rows.filter(isCut)];
};

/** @param {PageBoardRow} row */
const classOf = (row) => (lineOf(row) ? "line" : isRival(row) ? undefined : "reference");

const marks = Object.entries({ ...overview.marks, ...overview.flags }).map(([title, hint]) => ({
  key: title,
  title,
  hint,
}));

/**
 * What columns, marks and badges mean: the words that stand there on hover.
 * @param {{ words: { key: string, title: string, hint?: string }[] }} props
 */
function Words({ words }) {
  return html`<section><h2>What the words mean</h2>
    <dl class="pairs words">${words.map(
      ({ key, title, hint }) => html`<div key=${key}><dt>${title}</dt><dd>${hint}</dd></div>`,
    )}</dl></section>`;
}

/** @param {{ query: Query }} props */
function Board({ query }) {
  const chosen = listed(query.pick).filter((id) => results.some((row) => row.id === id));
  /** @param {string} id */
  const toggle = (id) => {
    const next = chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id];
    replaceQuery({ pick: next.map(encodeURIComponent).join(",") });
  };
  const shown = chosenResults(query);
  const sort = query.sort ?? BEST_FIRST;
  const answers = results.reduce((sum, row) => sum + row.answered, 0);
  const hasIntervals = results.some((row) => row.intervals.core);
  const hasLines = overview.boards.some((board) => board.lines.length) || results.some((row) => row.lines);
  const base = resultOf(query.by ?? "");
  const pairs = useLoaded(async () => (base ? allPairs() : undefined), [base]);
  const shownBoards = overview.boards.map((board) => {
    const rows = shown.filter((row) => boardOf(row) === board);
    const measured = base && pairs && boardOf(base) === board ? [againstColumn(base, pairs)] : [];
    return { board, rows, columns: boardColumns(ranksOf(board, rows), chosen, toggle, sort === BEST_FIRST, measured) };
  });
  // The board that is chosen from stands first.
  shownBoards.sort((a, b) => Number(b.board.about === query.board) - Number(a.board.about === query.board));
  // A board of which the filters leave nothing says so only if that holds of all of them.
  const found = shownBoards.filter(({ rows }) => rows.some(isRival));
  // One board needs no title, unless its scorer is old.
  const titled = shownBoards.length > 1 || shownBoards.some(({ board }) => board.is_old);
  return html`<${Heading} title="Leaderboard" />
    <p class="lead">Each model reads the output of a command and answers a question about it. Scores are 0 to 100.</p>
    <${Chooser} query=${query} />
    <${ResultFilters} query=${query}><${MeasureBy} query=${query} pairs=${pairs} /></>
    <${Chosen} shown=${shown} chosen=${chosen} />
    ${(found.length ? found : shownBoards).map(
      ({ board, rows, columns }) => html`${titled && html`<${BoardTitle} about=${board.about} />`}
        <${Headline} board=${board} shown=${rows} />
        <${Table}
          label=${titled ? `Leaderboard: ${board.about}` : "Leaderboard"}
          columns=${columns}
          rows=${boardRows(sortRows([...board.references, ...rows], columns, sort), sort)}
          sort=${sort}
          keyOf=${(/** @type {PageBoardRow} */ row) => String(row.key)}
          classOf=${classOf}
          explained
        />
        ${board.reference_note && html`<p class="legend">${sentence(board.reference_note)}</p>`}
        <${Notes} board=${board} shown=${rows} />`,
    )}
    <p class="legend">${hasIntervals && "Brackets are 95% intervals. "}
      Rows are sorted by the quality core, which ranks compare; the recovered score also includes latency.${" "}
      ${hasLines && "Dashed lines in the bars mark gold and the best baseline on the same cases. "}
      A rank with = is shared: the difference from at least one other result may be chance. Ranks count only the rows
      that are shown.</p>
    <${Doubts} />
    <${LeftOut} />
    <${Words} words=${[...(shownBoards[0]?.columns ?? []), ...marks]} />
    <p class="legend">${whole(answers)} answers; built ${overview.built}.</p>`;
}

export {
  Board,
  BoardTitle,
  boardOf,
  chosenResults,
  Flags,
  isRival,
  LeftOut,
  LineFlag,
  listed,
  MOST_CHOSEN,
  ResultFilters,
  rankText,
  Words,
};
