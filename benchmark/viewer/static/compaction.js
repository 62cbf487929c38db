// Compaction: how much of a session is left by the methods that shorten it, as probes of that session find it.
import { LeftOut, listed, rankText, Words } from "./board.js";
import { Heading, html } from "./dom.js";
import { fixed, interval, plural, signed, UNKNOWN, whole } from "./format.js";
import { KeptByAge, ScoreByTokens } from "./plot.js";
import { RunChoice, runOf, Shade, sharedOf, TYPES } from "./probing.js";
import { address, replaceQuery } from "./route.js";
import { overview, probePack, useLoaded } from "./store.js";
import { Choice, sortRows, Table } from "./table.js";

/** @import { MethodBoard, MethodDrift, MethodRow, ProbePack, SessionOfProbes } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

const MOST_CHOSEN = 2;
const RANK =
  "among the methods with the same limit: 1 + the number of methods that are significantly better; = is shared; ref " +
  "is an end of the scale, which competes with none";

/** @param {{ row: MethodRow, chosen: string[] }} props */
function Name({ row: { label, methods }, chosen }) {
  const isChosen = chosen.includes(label);
  const next = isChosen ? chosen.filter((other) => other !== label) : [...chosen, label];
  const toggle = () => replaceQuery({ pick: next.map(encodeURIComponent).join(",") });
  return html`<span class="pick">
    ${
      // Several draws of random lines are no method that could be compared.
      methods.length === 1 &&
      html`<input
        type="checkbox"
        aria-label=${`compare ${label}`}
        checked=${isChosen}
        disabled=${!isChosen && chosen.length >= MOST_CHOSEN}
        onChange=${toggle}
      />`
    }
    <span>${label}</span>
  </span>`;
}

/** @param {{ row: MethodRow }} props */
function Lift({ row: { lift } }) {
  if (!lift) return UNKNOWN;
  return html`${signed(lift.value, 2)}${lift.may_be_chance && "="}`;
}

/**
 * @param {MethodBoard} board
 * @param {string[]} types
 * @param {string[]} chosen
 * @returns {Column<MethodRow>[]}
 */
function columnsOf(board, types, chosen) {
  // Draws of random lines are asked several times over.
  const asked = board.rows.find(({ methods }) => methods.length === 1)?.types ?? {};
  return [
    {
      key: "rank",
      title: "rank",
      hint: RANK,
      kind: "",
      value: ({ rank }) => rank?.place,
      cell: (row) => rankText({ is_reference: row.is_end }, row.rank),
    },
    {
      key: "method",
      title: "method",
      hint: "how older steps are shortened; 2k: to 2,000 tokens",
      kind: "name",
      value: ({ label }) => label,
      cell: (row) => html`<${Name} row=${row} chosen=${chosen} />`,
    },
    {
      key: "tokens",
      title: "tokens left",
      hint: "in the context after a cut, in the mean, and the share of all tokens before it",
      kind: "number",
      value: ({ left }) => left,
      cell: ({ tokens, left }) => html`${whole(tokens)} <small>${fixed(100 * left, 0)}%</small>`,
    },
    {
      key: "score",
      title: "score",
      hint: "0 to 5: how much of the right answers the context still says; in brackets, the 95% interval",
      kind: "number",
      value: ({ score }) => score.value,
      cell: ({ score }) =>
        html`<b>${fixed(score.value, 2)}</b> <small>${interval(score.interval, (end) => fixed(end, 2))}</small>`,
    },
    {
      key: "lift",
      title: "lift",
      hint: "score above that of the best simple control with the same limit; = may be chance",
      kind: "number",
      value: ({ lift }) => lift?.value,
      cell: (row) => html`<${Lift} row=${row} />`,
    },
    ...types.map(
      /** @returns {Column<MethodRow>} */ (type) => ({
        key: type,
        title: `${type} (${whole(asked[type]?.count)})`,
        hint: `score on questions about ${TYPES[type] ?? "this"}; in brackets, how many they are`,
        kind: "number",
        value: (row) => row.types[type]?.value,
        cell: (row) => html`<${Shade} score=${row.types[type]?.value} />`,
      }),
    ),
  ];
}

const WORDS = [
  { key: "gold", title: "gold", hint: "the right answers as the summary: as good as it can be" },
  { key: "everything", title: "everything", hint: "all steps, nothing shortened" },
  {
    key: "control",
    title: "simple control",
    hint: "random lines, the first or last lines, or a text that is cut off: they understand nothing of what they keep",
  },
  { key: "cut", title: "cut", hint: "where a session is shortened: the steps before it, except for the latest ones" },
];

/** @param {number | null} budget */
const limitOf = (budget) => (budget === null ? "No token limit" : `At most ${whole(budget)} tokens for a summary`);

/** @param {{ pack: ProbePack, board: MethodBoard, query: Query }} props */
function Methods({ pack, board, query }) {
  const chosen = listed(query.pick).filter((label) => board.rows.some((row) => row.label === label));
  const columns = columnsOf(board, pack.types, chosen);
  const isReady = pack.sessions.length > 0 && chosen.length === MOST_CHOSEN;
  const sort = query.sort ?? "";
  const budgets = [...new Set(board.rows.map(({ budget }) => budget))];
  return html`<section class="picture"><h2>Score against tokens left</h2>
      <p>0 to 5, with 95% intervals; further up and to the left is better. ■ no token limit, ● with a limit,
        hollow: simple controls. Dashed: the right answers themselves, and all steps.</p>
      <${ScoreByTokens} rows=${board.rows} />
    </section>
    <div class="beside"><p role="status">${plural(board.rows.length, "method")}</p>
      <a
        class=${`button ${isReady ? "" : "off"}`}
        aria-disabled=${!isReady}
        href=${isReady ? address("pair", chosen, { ...sharedOf(query), made: board.maker }) : undefined}
        >Compare ${isReady ? "the two chosen" : "(choose two methods)"}</a>
    </div>
    ${budgets.map(
      (budget) => html`<h2>${limitOf(budget)}</h2>
      <${Table}
        label=${`Methods: ${limitOf(budget)}`}
        columns=${columns}
        rows=${sortRows(
          board.rows.filter((row) => row.budget === budget),
          columns,
          sort,
        )}
        sort=${sort}
        keyOf=${(/** @type {MethodRow} */ { label }) => label}
        classOf=${(/** @type {MethodRow} */ row) => (row.is_end || row.is_control ? "reference" : undefined)}
        explained
      />`,
    )}
    ${
      (board.apart ?? []).length + (board.unasked ?? []).length > 0 &&
      html`<ul class="notes">
        ${board.apart?.map((note) => html`<li>${note}.</li>`)}
        ${board.unasked?.map((label) => html`<li>${label} has no summary at any cut, so it was asked nothing.</li>`)}
      </ul>`
    }
    <${Drift} board=${board} chosen=${chosen} query=${query} />
    <${Sessions} pack=${pack} made=${board.maker} query=${query} />
    <${Words} words=${[...columns, ...WORDS]} />`;
}

const MOST_LINES = 6;
const AGES = 3;
const upTo = (/** @type {number} */ ages) => `0 to ${ages - 1}`;

/**
 * The methods that are drawn: those that are chosen; else the best of each limit.
 * @param {MethodRow[]} rows
 * @param {string[]} chosen
 */
function drawnRows(rows, chosen) {
  const named = rows.filter(({ label }) => chosen.includes(label));
  const best = rows.filter(({ rank }) => rank?.place === 1);
  return (named.length ? named : best).slice(0, MOST_LINES);
}

/** @param {{ board: MethodBoard, chosen: string[], query: Query }} props */
function Drift({ board, chosen, query }) {
  const all = board.drifts ?? [];
  const counts = [...new Set(all.map(({ ages }) => ages))];
  const drawn = drawnRows(board.rows, chosen);
  if (!counts.length || !drawn.length) return null;
  const ages = counts.find((one) => upTo(one) === query.ages) ?? counts.find((one) => one === AGES) ?? counts[0];
  const drifts = all.filter((one) => one.ages === ages);
  const keptBy = (/** @type {MethodDrift} */ { kept }, /** @type {MethodRow} */ row) => kept[board.rows.indexOf(row)];
  const rows = drifts.flatMap((drift) => drawn.map((row) => ({ drift, row, kept: keptBy(drift, row) })));
  /** @type {Column<typeof rows[0]>[]} */
  const columns = [
    { key: "kept by", title: "method", kind: "name", value: ({ row }) => row.label, cell: ({ row }) => row.label },
    { key: "kept type", title: "type", kind: "", value: ({ drift }) => drift.type, cell: ({ drift }) => drift.type },
    {
      key: "kept of",
      title: "probes",
      hint: "that are asked at all of these ages",
      kind: "number",
      value: ({ drift }) => drift.probes,
      cell: ({ drift }) => whole(drift.probes),
    },
    ...Array.from(
      { length: ages },
      /** @returns {Column<typeof rows[0]>} */ (_, age) => ({
        key: `age ${age}`,
        title: `age ${age}`,
        hint: "share of the full score that is kept",
        kind: "number",
        value: ({ kept }) => kept[age],
        cell: ({ kept }) => (kept[age] === null ? UNKNOWN : `${fixed(100 * (kept[age] ?? 0), 0)}%`),
      }),
    ),
  ];
  const sort = query.sort ?? "";
  return html`<section class="picture"><h2>Drift by age</h2>
      <p>Age: how many cuts ago the steps that say the answer were removed. Only probes that are asked at all of these
        ages are counted (n), so what falls is lost. Drawn are ${chosen.length ? "the methods" : "the best methods; or"}
        ${chosen.length ? "" : " those"} that you choose in the tables.</p>
      <form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <${Choice} label="Ages" name="ages" value=${upTo(ages)} options=${counts.map(upTo)} all=${false} />
      </form>
      <div class="answers">${drifts.map(
        (drift) => html`<div key=${drift.type}><h3>${drift.type}</h3>
          <${KeptByAge}
            title=${drift.type}
            ages=${ages}
            probes=${drift.probes}
            lines=${drawn.map((row) => ({ label: row.label, kept: keptBy(drift, row) }))}
          /></div>`,
      )}</div>
      <details><summary>Figures</summary>
        <${Table}
          label="Drift by age"
          columns=${columns}
          rows=${sortRows(rows, columns, sort)}
          sort=${sort}
          keyOf=${(/** @type {typeof rows[0]} */ { drift, row }) => `${drift.type} ${row.label}`}
        />
      </details>
    </section>`;
}

/**
 * @param {string} made
 * @param {Query} query
 * @returns {Column<SessionOfProbes>[]}
 */
const sessionColumns = (made, query) => [
  {
    key: "session",
    title: "session",
    hint: "opens its probes",
    kind: "name",
    value: ({ name }) => name,
    cell: ({ name }) => html`<a href=${address("session", [name], sharedOf({ ...query, made }))}>${name}</a>`,
  },
  {
    key: "steps",
    title: "steps",
    hint: "messages, calls of tools and their output",
    kind: "number",
    value: ({ steps }) => steps,
    cell: ({ steps }) => whole(steps),
  },
  {
    key: "cuts",
    title: "cuts",
    hint: "how often it is shortened",
    kind: "number",
    value: ({ cuts }) => cuts.length,
    cell: ({ cuts }) => whole(cuts.length),
  },
  {
    key: "probes",
    title: "probes",
    hint: "questions about it",
    kind: "number",
    value: ({ probes }) => probes.length,
    cell: ({ probes }) => whole(probes.length),
  },
];

/** @param {{ pack: ProbePack, made: string, query: Query }} props */
function Sessions({ pack, made, query }) {
  if (!pack.sessions.length) return null;
  const columns = sessionColumns(made, query);
  const sort = query.sort ?? "";
  return html`<h2>Sessions</h2>
    <${Table}
      label="Sessions"
      columns=${columns}
      rows=${sortRows(pack.sessions, columns, sort)}
      sort=${sort}
      keyOf=${(/** @type {SessionOfProbes} */ { name }) => name}
    />`;
}

/** @param {{ pack: ProbePack, query: Query }} props */
function Chosen({ pack, query }) {
  const session = pack.sessions.find(({ name }) => name === query.session);
  const boards = session?.boards ?? pack.boards;
  const board = boards.find(({ maker }) => maker === query.made) ?? boards[0];
  const makers = pack.boards.map(({ maker }) => maker);
  return html`<form class="filters" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${RunChoice} query=${query} />
      ${
        pack.sessions.length > 1 &&
        html`<${Choice}
          label="Session"
          name="session"
          value=${session?.name}
          options=${pack.sessions.map(({ name }) => name)}
        />`
      }
      ${
        makers.length > 1 &&
        html`<${Choice} label="Probes made by" name="made" value=${board?.maker} options=${makers} all=${false} />`
      }
    </form>
    ${
      board
        ? html`${board.findings.map((finding) => html`<p class="lead">${finding}</p>`)}
          <p class="legend">${board.about}.</p>
          <${Methods} pack=${pack} board=${board} query=${query} />`
        : html`<p>No method could be asked anything.</p>`
    }`;
}

/** @param {{ query: Query }} props */
function Compaction({ query }) {
  const run = runOf(query);
  const pack = useLoaded(() => probePack(run), [run]);
  const head = html`<${Heading} title="Compaction" />
    <p class="lead">An agent's session grows until older steps are shortened. Probes are questions about those steps:
      does the remaining context still contain the answer?</p>`;
  if (!pack) return html`${head}<p role="status">Unpacking…</p>`;
  return html`${head}<${Chosen} pack=${pack} query=${query} />
    <p class="legend">${overview.probed?.[run]?.about}</p>
    ${!overview.results.length && html`<${LeftOut} />`}`;
}

export { Compaction };
