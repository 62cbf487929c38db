// The page: one view at a time, by the address.

import { Board } from "./board.js";
import { CaseView } from "./case.js";
import { CasesByModel } from "./case_items.js";
import { Compaction } from "./compaction.js";
import { Component, elementOf, Heading, html, render, useLayoutEffect, useRef } from "./dom.js";
import { isForPage } from "./keys.js";
import { Ladders } from "./ladders.js";
import { MethodPair } from "./method_pair.js";
import { Pictures } from "./pictures.js";
import { ProbeView } from "./probe.js";
import { Retention } from "./retention.js";
import { address, go, scrollBack, useRoute } from "./route.js";
import { Scenario, ToStart, Unknown } from "./scenario.js";
import { SessionView } from "./session.js";
import { Slices } from "./slices.js";
import { overview, resultOf, START } from "./store.js";
import { Stress } from "./stress.js";
import { toggleTheme, useTheme } from "./theme.js";
import { Validity } from "./validity.js";
import { Versus } from "./versus.js";

/** @import { Query, Route } from "./route.js" */

const OF_RESULTS = [
  ["board", "Leaderboard"],
  ["pictures", "Charts"],
  ["compare", "Head to head"],
  ...(overview.retention?.length ? [["retention", "What is kept"]] : []),
  ...(overview.validity ? [["validity", "Validity"]] : []),
  ["slices", "Slices"],
  ["cases", "Cases"],
  ...(overview.ladders?.length ? [["quantizations", "Quantizations"]] : []),
];
const VIEWS = [
  ...(overview.results.length ? OF_RESULTS : []),
  ...(overview.probed?.length ? [["compaction", "Compaction"]] : []),
  ...(overview.stressed ? [["stress", "Stress"]] : []),
];
// There is no key 10.
const KEYED = VIEWS.slice(0, 9);
const KEYS = [
  [KEYED.map((_, place) => place + 1).join(" "), KEYED.map(([, title]) => title.toLowerCase()).join(", ")],
  ["/", "find"],
  ["j k, → ←", "next and previous case"],
  ["u", "up: from a case to its result, from there to the first view"],
  ["?", "this list"],
];

const FILTERED = ["board", "pictures"];
const OF_PROBES = ["compaction", "session", "probe", "pair"];

/** @param {Query} query */
const filtersOf = ({ q, track, phase, quant, all }) => ({ q, track, phase, quant, all });

// A fault takes its view down, not the page, and says what it was.
class Boundary extends Component {
  constructor() {
    super();
    this.state = { fault: null };
  }

  /** @param {unknown} fault */
  static getDerivedStateFromError(fault) {
    return { fault };
  }

  /**
   * @param {{ children: unknown }} props
   * @param {{ fault: unknown }} state
   */
  render({ children }, { fault }) {
    if (!fault) return children;
    return html`<${Heading} title="This view cannot be shown" />
      <p class="fault">${String(fault)}</p>
      <p>The browser may be too old, or a result file may be damaged.${" "}
        <${ToStart} /></p>`;
  }
}

/** @param {{ route: Route }} props */
function View({ route: { view, parts, query } }) {
  if (view === "compaction") return html`<${Compaction} query=${query} />`;
  if (view === "session") return html`<${SessionView} key=${parts[0]} name=${parts[0]} query=${query} />`;
  if (view === "probe") return html`<${ProbeView} key=${parts[1]} name=${parts[0]} id=${parts[1]} query=${query} />`;
  if (view === "stress" && overview.stressed) return html`<${Stress} />`;
  if (view === "pair") return html`<${MethodPair} labels=${parts} query=${query} />`;
  if (view === "board") return html`<${Board} query=${query} />`;
  if (view === "pictures") return html`<${Pictures} query=${query} />`;
  if (view === "compare") return html`<${Versus} ids=${parts} query=${query} />`;
  if (view === "slices") return html`<${Slices} query=${query} />`;
  if (view === "cases") return html`<${CasesByModel} query=${query} />`;
  if (view === "quantizations" && overview.ladders?.length) return html`<${Ladders} query=${query} />`;
  if (view === "retention" && overview.retention?.length) return html`<${Retention} query=${query} />`;
  if (view === "validity" && overview.validity) return html`<${Validity} validity=${overview.validity} />`;
  if (view === "scenario") return html`<${Scenario} key=${parts[0]} id=${parts[0]} query=${query} />`;
  if (view === "case") return html`<${CaseView} key=${parts[0]} id=${parts[0]} caseId=${parts[1]} query=${query} />`;
  return html`<${Unknown} id=${view} />`;
}

function Help() {
  return html`<dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl class="pairs">${KEYS.map(
      ([key, meaning]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${meaning}</dd></div>`,
    )}</dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

const showHelp = () => /** @type {HTMLDialogElement} */ (elementOf("help")).showModal();

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (!isForPage(event)) return;
  const place = VIEWS.findIndex((_, index) => event.key === String(index + 1));
  if (place >= 0) go(address(VIEWS[place][0]));
  else if (event.key === "?") showHelp();
  else if (event.key === "u") go(document.querySelector(".crumbs a")?.getAttribute("href") ?? address("board"));
  else if (event.key === "/" && document.getElementById("filter")) {
    event.preventDefault();
    elementOf("filter").focus();
  }
}

function App() {
  const found = useRoute();
  const asked = found.view === "board" ? { ...found, view: START } : found;
  // Whatever an address calls a run, it is one view. Sessions and methods are no runs.
  const parts = OF_PROBES.includes(asked.view) ? asked.parts : asked.parts.map((part) => resultOf(part)?.id ?? part);
  const route = { ...asked, parts };
  const theme = useTheme();
  const first = useRef(true);
  const place = [route.view, ...route.parts, route.query.case ?? ""].join("\n");
  useLayoutEffect(() => {
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  useLayoutEffect(() => {
    // A new view begins at its heading, for eyes and for screen readers alike; the first one at the top of the page,
    // and one that the reader comes back to where it was left.
    const heading = /** @type {HTMLElement | null} */ (document.querySelector("main h1"));
    const stop = first.current ? undefined : scrollBack();
    if (!first.current) heading?.focus({ preventScroll: true });
    first.current = false;
    return stop;
  }, [place]);
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault();
    elementOf("main").focus();
  };
  const [other, sign] = theme === "dark" ? ["light", "☀"] : ["dark", "☾"];
  return html`<a class="skip" href="#main" onClick=${skip}>To the content</a>
    <header>
      <a class="brand" href=${address("board")}><b>CtxSift</b> Bench</a>
      <nav aria-label="Views">
        ${VIEWS.map(([view, title]) => {
          const current = route.view === view ? "page" : undefined;
          // Views of the same results keep what was filtered.
          const kept = FILTERED.includes(view) && FILTERED.includes(route.view) ? filtersOf(route.query) : {};
          return html`<a key=${view} href=${address(view, [], kept)} aria-current=${current}>${title}</a>`;
        })}
      </nav>
      <button type="button" onClick=${toggleTheme} aria-label=${`switch to ${other}`}>${sign}</button>
      <button type="button" onClick=${showHelp}>Keys</button>
    </header>
    <main id="main" tabindex="-1"><${Boundary} key=${place}><${View} route=${route} /><//></main>
    <${Help} />
    <div class="hidden" aria-live="polite" id="announced"></div>`;
}

render(html`<${App} />`, elementOf("app"));
