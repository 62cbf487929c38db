// A session that was probed: what a method kept of each probe after each cut.
import { Heading, html } from "./dom.js";
import { plural } from "./format.js";
import { methodOf, placesOf, RunChoice, runOf, SCORE_SIGNS, Shade, scoreText, shadeOf, sharedOf } from "./probing.js";
import { address } from "./route.js";
import { Unknown } from "./scenario.js";
import { probePack, useLoaded } from "./store.js";
import { Choice, Filter, holds, sortRows, Table } from "./table.js";
import { visible } from "./text.js";

/** @import { ProbeOfSession, ProbePack, SessionOfProbes } from "./page_records.d.ts" */
/** @import { Query } from "./route.js" */
/** @import { Column } from "./table.js" */

// The last cut stands at the end of the session; its scores need room, too.
const TAIL = 1.16;
const ROW = 36;
const HEAD = 34;
const BAR = 16;

/**
 * The probes of a session as the filters leave them.
 * @param {SessionOfProbes} session
 * @param {Query} query
 */
const chosenProbes = (session, { made, type, q }) =>
  session.probes.filter(
    (probe) =>
      (!made || probe.maker === made) &&
      (!type || probe.type === type) &&
      holds(q, probe.id, probe.question, probe.type),
  );

/**
 * @param {SessionOfProbes} session
 * @param {ProbeOfSession} probe
 * @param {Query} query
 */
const toProbe = (session, probe, query) => address("probe", [session.name, probe.id], query);

/**
 * @param {{
 *   pack: ProbePack, session: SessionOfProbes, probe: ProbeOfSession, method: number, top: number, query: Query,
 * }} props
 */
function Bar({ pack, session: { name, cuts, steps }, probe, method, top, query }) {
  const xOf = (/** @type {number} */ step) => (100 * step) / (steps * TAIL);
  const percent = (/** @type {number} */ step) => `${xOf(step)}%`;
  const first = Math.min(...probe.evidence);
  const middle = top + ROW - BAR / 2 - 2;
  // A name that would leave the picture ends where its bar begins to end.
  const isLate = xOf(first) > 55;
  const told = probe.asked.map((asked) => `cut ${asked.at + 1}: ${scoreText(pack, asked, method)}`).join(", ");
  return html`<a
    href=${address("probe", [name, probe.id], query)}
    aria-label=${`${probe.id}, ${probe.type}, evidence in step ${probe.evidence.join(", ")}; ${told}`}
    ><title>${probe.question}</title>
    <text class="name" x=${isLate ? "100%" : percent(first)} y=${top + 13} text-anchor=${isLate ? "end" : "start"}
      >${probe.id}</text>
    <line class="before" x1=${percent(first)} x2=${percent(cuts[probe.asked[0]?.at ?? 0])} y1=${middle} y2=${middle} />
    ${probe.evidence.map((step) => html`<circle class="evidence" cx=${percent(step)} cy=${middle} r="3.5" />`)}
    ${probe.asked.map((asked) => {
      const begin = xOf(cuts[asked.at]);
      const end = asked.at + 1 < cuts.length ? xOf(cuts[asked.at + 1]) : 100;
      const score = asked.scores[method];
      const kind = `part ${score === null ? "" : shadeOf(score)}`;
      return html`<rect class=${kind} x=${`${begin}%`} width=${`${end - begin}%`} y=${middle - BAR / 2} height=${BAR} />
        <text x=${`${(begin + end) / 2}%`} y=${middle + 4} text-anchor="middle"
          >${scoreText(pack, asked, method)}</text>`;
    })}
  </a>`;
}

/**
 * @param {{ pack: ProbePack, session: SessionOfProbes, probes: ProbeOfSession[], method: number, query: Query }} props
 */
function Strip({ pack, session, probes, method, query }) {
  const { cuts, steps } = session;
  const height = HEAD + ROW * probes.length + 6;
  return html`<svg class="plot strip" width="100%" height=${height} role="group" aria-label="probes along the session">
    ${cuts.map((cut, place) => {
      const x = `${(100 * cut) / (steps * TAIL)}%`;
      return html`<line class="grid" x1=${x} x2=${x} y1=${HEAD - 6} y2=${height} />
        <text class="tick" x=${x} y="12" text-anchor="middle">cut ${place + 1}</text>
        <text class="tick" x=${x} y="25" text-anchor="middle">${cut}</text>`;
    })}
    <text class="tick" x="0" y="25">step 1</text>
    ${probes.map(
      (probe, place) => html`<${Bar}
        key=${probe.id}
        pack=${pack}
        session=${session}
        probe=${probe}
        method=${method}
        top=${HEAD + ROW * place}
        query=${query}
      />`,
    )}
  </svg>`;
}

/**
 * @param {ProbePack} pack
 * @param {SessionOfProbes} session
 * @param {number} method
 * @param {Query} query
 * @returns {Column<ProbeOfSession>[]}
 */
function columnsOf(pack, session, method, query) {
  return [
    {
      key: "probe",
      title: "probe",
      hint: "opens the probe",
      kind: "name",
      value: ({ id }) => id,
      cell: (probe) => html`<a href=${toProbe(session, probe, query)}>${visible(probe.id)}</a>`,
    },
    { key: "type", title: "type", kind: "aside", value: ({ type }) => type, cell: ({ type }) => type },
    {
      key: "evidence",
      title: "evidence",
      hint: "the steps that say the answer",
      kind: "aside",
      value: ({ evidence }) => Math.min(...evidence),
      cell: ({ evidence }) => evidence.join(", "),
    },
    ...session.cuts.map(
      /** @returns {Column<ProbeOfSession>} */ (cut, at) => {
        const askedAt = (/** @type {ProbeOfSession} */ { asked }) => asked.find((one) => one.at === at);
        return {
          key: `cut ${at + 1}`,
          title: `cut ${at + 1}`,
          hint: `score after the cut at step ${cut}; a dash where the probe is not asked`,
          kind: "number",
          value: (probe) => askedAt(probe)?.scores[method],
          cell: (probe) => {
            const asked = askedAt(probe);
            return html`<${Shade}
              score=${asked?.scores[method]}
              text=${asked && scoreText(pack, asked, method)}
              href=${toProbe(session, probe, { ...query, method: pack.methods[method], at: String(at) })}
            />`;
          },
        };
      },
    ),
    {
      key: "question",
      title: "question",
      kind: "",
      value: ({ question }) => question,
      cell: ({ question }) => html`<span class="asks">${visible(question)}</span>`,
    },
  ];
}

/** @param {{ pack: ProbePack, session: SessionOfProbes, query: Query }} props */
function Probed({ pack, session, query }) {
  const method = methodOf(pack, query);
  const shared = sharedOf({ ...query, method: pack.methods[method] });
  const columns = columnsOf(pack, session, method, shared);
  const sort = query.sort ?? "";
  const probes = sortRows(chosenProbes(session, query), columns, sort);
  const makers = [...new Set(session.probes.map(({ maker }) => maker))];
  const types = pack.types.filter((type) => session.probes.some((probe) => probe.type === type));
  const all = plural(session.probes.length, "probe");
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Choice}
        label="Method"
        name="method"
        value=${pack.methods[method]}
        options=${placesOf(pack).map((place) => pack.methods[place])}
        all=${false}
      />
      <${Choice} label="Type" name="type" value=${query.type} options=${types} />
      ${
        makers.length > 1 &&
        html`<${Choice} label="Probes made by" name="made" value=${query.made} options=${makers} />`
      }
      <${Filter} label="Find" value=${query.q} />
      <${RunChoice} query=${query} />
    </form>
    <p role="status">${probes.length === session.probes.length ? all : `${probes.length} of ${all}`}</p>
    <section class="picture"><h2>What ${pack.methods[method]} keeps, from cut to cut</h2>
      <p>Each line is a probe. Dots mark the steps that contain the answer. The probe is asked at the cut that removes
        them and at every later cut. ${SCORE_SIGNS}</p>
      <${Strip} pack=${pack} session=${session} probes=${probes} method=${method} query=${shared} />
    </section>
    <h2>Probes</h2>
    <${Table}
      label="Probes"
      columns=${columns}
      rows=${probes}
      sort=${sort}
      keyOf=${(/** @type {ProbeOfSession} */ { id }) => id}
    />`;
}

/** @param {{ name: string, query: Query }} props */
function SessionView({ name, query }) {
  const run = runOf(query);
  const pack = useLoaded(() => probePack(run), [run]);
  if (!pack) return html`<${Heading} title=${name} /><p role="status">Unpacking…</p>`;
  const session = pack.sessions.find((one) => one.name === name);
  if (!session) return html`<${Unknown} id=${name} />`;
  const back = address("compaction", [], sharedOf({ ...query, type: "", method: "" }));
  return html`<p class="crumbs"><a href=${back}>Compaction</a></p>
    <${Heading} title=${`Session ${name}`} />
    <p class="lead">${plural(session.steps, "step")}, shortened at ${plural(session.cuts.length, "cut")}; split${" "}
      ${session.split}.</p>
    <${Probed} pack=${pack} session=${session} query=${query} />`;
}

export { chosenProbes, SessionView };
