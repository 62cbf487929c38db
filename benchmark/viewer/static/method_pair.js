// Two methods: which probes only one of them keeps, and their contexts side by side.
import { listed } from "./board.js";
import { Steps } from "./case.js";
import { Heading, html, isChecked } from "./dom.js";
import { countsByType, sharedQuestions } from "./flips.js";
import { fixed, interval, plural, pValue, signed, whole } from "./format.js";
import { Asked, Cell, PLACE_MARKS, sessionOf } from "./probe.js";
import { runOf, Shade, sharedOf } from "./probing.js";
import { address, pushQuery } from "./route.js";
import { Unknown } from "./scenario.js";
import { probePack, useLoaded } from "./store.js";
import { Choice, Filter, holds, sortRows, Table } from "./table.js";
import { visible } from "./text.js";

/** @import { SharedQuestion } from "./flips.js" */
/** @import { MethodGain, ProbePack } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */
/** @typedef {{ pack: ProbePack, labels: string[], places: number[] }} Two */

const WORST_FIRST = "gap";
const LETTERS = ["A", "B"];

/**
 * How an address names a question.
 * @param {SharedQuestion} question
 */
const caseOf = ({ session, probe, at }) => [session, probe, String(at)].map(encodeURIComponent).join(",");

/**
 * How far the second lies above the first, over all sessions; nothing where one of them is not ranked.
 * @param {Two} two
 * @param {string | undefined} made
 * @returns {MethodGain | undefined}
 */
function gainOf({ pack, labels: [a, b] }, made) {
  const { pairs } = pack.boards.find(({ maker }) => maker === made) ?? pack.boards[0];
  const found = pairs.find(({ method, gain }) => method === b && gain.over === a)?.gain;
  if (found) return found;
  const turned = pairs.find(({ method, gain }) => method === a && gain.over === b)?.gain;
  const ends = turned?.interval;
  return turned && { ...turned, value: -turned.value, interval: ends && { low: -ends.high, high: -ends.low } };
}

/** @param {{ two: Two, query: Query }} props */
function Verdict({ two, query }) {
  const gain = gainOf(two, query.made);
  if (!gain) return null;
  const [a, b] = two.labels;
  const ends = interval(gain.interval, (end) => signed(end, 2));
  const much = `${fixed(Math.abs(gain.value), 2)} ${gain.value < 0 ? "lower" : "higher"}`;
  const sure = gain.may_be_chance ? "; the difference may be chance" : "";
  return html`<p class="verdict">On the same questions, ${b} scores ${much} than ${a}${sure}.</p>
    <p class="legend">B − A: ${signed(gain.value, 2)} ${ends}, p ${pValue(gain.p)} (corrected for all pairs of
      methods).</p>`;
}

/** @param {{ two: Two, questions: SharedQuestion[] }} props */
function ByType({ two: { pack, labels }, questions }) {
  const rows = countsByType(pack.types, questions).filter(({ asked }) => asked);
  /** @type {Column<typeof rows[0]>[]} */
  const columns = [
    { key: "of", title: "type", kind: "name", value: ({ type }) => type, cell: ({ type }) => type },
    .../** @type {const} */ ([
      ["asked", "asked", "probes, once for each cut at which both are asked"],
      ["both", "both keep", "at least half of the full score"],
      ["onlyA", `only A, ${labels[0]}`, "A keeps it, B does not"],
      ["onlyB", `only B, ${labels[1]}`, "B keeps it, A does not"],
      ["neither", "neither", "kept by none of the two"],
    ]).map(
      /** @returns {Column<typeof rows[0]>} */ ([key, title, hint]) => ({
        key,
        title,
        hint,
        kind: "number",
        value: (row) => row[key],
        cell: (row) => whole(row[key]),
      }),
    ),
  ];
  return html`<${Table}
    label="Kept by type of probe"
    columns=${columns}
    rows=${rows}
    sort=""
    keyOf=${(/** @type {{ type: string }} */ { type }) => type}
  />`;
}

/**
 * @param {Two} two
 * @param {Query} query
 * @returns {Column<SharedQuestion>[]}
 */
const columnsOf = ({ labels }, query) => [
  {
    key: "probe",
    title: "probe",
    hint: "opens both contexts",
    kind: "name",
    value: ({ probe }) => probe,
    cell: (one) => html`<a href=${address("pair", labels, { ...query, case: caseOf(one) })}>${visible(one.probe)}</a>`,
  },
  ...["session", "type"].map(
    /** @returns {Column<SharedQuestion>} */ (key) => ({
      key,
      title: key,
      kind: "aside",
      value: (one) => (key === "session" ? one.session : one.type),
      cell: (one) => (key === "session" ? one.session : one.type),
    }),
  ),
  {
    key: "cut",
    title: "cut",
    hint: "after which cut it is asked",
    kind: "number",
    value: ({ at }) => at,
    cell: ({ at }) => at + 1,
  },
  ...LETTERS.map(
    /** @returns {Column<SharedQuestion>} */ (letter, place) => ({
      key: letter,
      title: letter,
      hint: `score of ${labels[place]}, 0 to 5`,
      kind: "number",
      value: ({ a, b }) => (place ? b : a),
      cell: ({ a, b }) => html`<${Shade} score=${place ? b : a} />`,
    }),
  ),
  {
    key: WORST_FIRST,
    title: "B − A",
    hint: "what B loses most stands first",
    kind: "number",
    value: ({ gap }) => gap,
    cell: ({ gap }) => signed(gap, 2),
  },
  {
    key: "question",
    title: "question",
    kind: "",
    value: ({ question }) => question,
    cell: ({ question }) => html`<span class="asks">${visible(question)}</span>`,
  },
];

/**
 * The questions that filters leave: those that only one keeps, or all.
 * @param {SharedQuestion[]} all
 * @param {Query} query
 */
const chosenQuestions = (all, { made, session, q, type, every }) =>
  all.filter(
    (one) =>
      (every === "1" || one.isFlip) &&
      (!made || one.maker === made) &&
      (!session || one.session === session) &&
      (!type || one.type === type) &&
      holds(q, one.probe, one.question),
  );

/** @param {{ two: Two, all: SharedQuestion[], rows: SharedQuestion[], query: Query }} props */
function Questions({ two, all, rows, query }) {
  const { pack } = two;
  const columns = columnsOf(two, query);
  const change = (/** @type {Event} */ event) => pushQuery({ every: isChecked(event) ? "1" : "" });
  const counted = chosenQuestions(all, { ...query, every: "1", type: "" });
  const makers = pack.boards.map(({ maker }) => maker);
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Choice} label="Type" name="type" value=${query.type} options=${pack.types} />
      <${Choice}
        label="Session"
        name="session"
        value=${query.session}
        options=${pack.sessions.map(({ name }) => name)}
      />
      ${
        makers.length > 1 &&
        html`<${Choice} label="Probes made by" name="made" value=${query.made} options=${makers} />`
      }
      <${Filter} label="Find" value=${query.q} />
      <label class="check"><input type="checkbox" checked=${query.every === "1"} onChange=${change} /> also what both
        keep, or neither</label>
    </form>
    <h2>By type</h2>
    <${ByType} two=${two} questions=${counted} />
    <h2>Probe by probe</h2>
    <p role="status">${plural(rows.length, "question")}${query.every !== "1" && " that only one of the two keeps"}.</p>
    <${Table}
      label="Probe by probe"
      columns=${columns}
      rows=${rows}
      sort=${query.sort ?? WORST_FIRST}
      keyOf=${caseOf}
    />`;
}

/** @param {{ two: Two, rows: SharedQuestion[], query: Query }} props */
function SideBySide({ two, rows, query }) {
  const [name, id, at] = listed(query.case);
  const loaded = useLoaded(() => sessionOf(name, query), [name, query.run]);
  const { case: _, ...rest } = query;
  const crumbs = html`<p class="crumbs"><a href=${address("pair", two.labels, rest)}>Two methods</a></p>`;
  if (!loaded) return html`${crumbs}<${Heading} title=${id} /><p role="status">Unpacking…</p>`;
  const { pack, session, texts } = loaded;
  const place = session?.probes.findIndex((one) => one.id === id) ?? -1;
  const probe = session?.probes[place];
  const asked = probe?.asked.find((one) => String(one.at) === at);
  if (!session || !texts || !probe || !asked) return html`<${Unknown} id=${`${name} / ${id}`} />`;
  const cases = rows.map((one) => ({ case_id: caseOf(one) }));
  const index = cases.findIndex(({ case_id }) => case_id === query.case);
  const to = (/** @type {string} */ next) => address("pair", two.labels, { ...query, case: next });
  const shown = { pack, session, probe, texts, told: texts.probes[place] };
  const [a, b] = two.places;
  return html`${crumbs}
    <${Heading} title=${probe.question} />
    <p class="lead"><a href=${address("probe", [name, id], { ...sharedOf(query), at })}>${visible(id)}</a> of session
      ${" "}${name}, after cut ${asked.at + 1} (step ${session.cuts[asked.at]})</p>
    ${index >= 0 && html`<${Steps} cases=${cases} index=${index} to=${to} label="Probes" />`}
    <p class="chips"><span>${probe.type}</span><span>made by ${probe.maker}</span></p>
    <${Asked} ...${shown} />
    <div class="answers">
      <${Cell} ...${shown} asked=${asked} method=${a} other=${b} title=${`A: ${two.labels[0]}`} />
      <${Cell} ...${shown} asked=${asked} method=${b} other=${a} title=${`B: ${two.labels[1]}`} />
    </div>
    <p class="legend"><mark class="alone">the other context does not say this anywhere</mark> ${PLACE_MARKS}</p>`;
}

/** @param {{ labels: string[], query: Query }} props */
function MethodPair({ labels, query }) {
  const run = runOf(query);
  const pack = useLoaded(() => probePack(run), [run]);
  const head = html`<p class="crumbs"><a href=${address("compaction", [], sharedOf(query))}>Compaction</a></p>
    <${Heading} title="Two methods" />`;
  if (!pack) return html`${head}<p role="status">Unpacking…</p>`;
  const unknown = [0, 1].find((place) => !pack.methods.includes(labels[place]));
  if (unknown !== undefined) return html`<${Unknown} id=${labels[unknown] ?? "the second method"} />`;
  const two = { pack, labels: labels.slice(0, 2), places: labels.map((label) => pack.methods.indexOf(label)) };
  const all = sharedQuestions(pack, two.places[0], two.places[1]);
  const rows = sortRows(chosenQuestions(all, query), columnsOf(two, query), query.sort ?? WORST_FIRST);
  if (query.case) return html`<${SideBySide} key=${query.case} two=${two} rows=${rows} query=${query} />`;
  return html`${head}
    <p class="lead">A: ${two.labels[0]}. B: ${two.labels[1]}.${" "}
      <a href=${address("pair", [...two.labels].reverse(), query)}>The other way round</a></p>
    <${Verdict} two=${two} query=${query} />
    <${Questions} two=${two} all=${all} rows=${rows} query=${query} />`;
}

export { MethodPair };
