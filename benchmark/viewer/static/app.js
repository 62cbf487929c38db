// The page: one view at a time, by the address.
import { Component, Heading, html, render, useLayoutEffect, useRef } from "./dom.js";
import { Board } from "./board.js";
import { CaseView } from "./case.js";
import { Pictures } from "./pictures.js";
import { Scenario, Unknown } from "./scenario.js";
import { Versus } from "./versus.js";
import { address, go, useRoute } from "./route.js";
import { isForPage } from "./keys.js";
import { toggleTheme, useTheme } from "./theme.js";

const VIEWS = [["board", "Leaderboard"], ["pictures", "Pictures"], ["compare", "Head to head"]];
const KEYS = [
  ["1 2 3", "leaderboard, pictures, head to head"],
  ["/", "find"],
  ["j k, → ←", "next and previous case"],
  ["u", "up: from a case to its scenario, from there to the leaderboard"],
  ["?", "this list"],
];

// A fault takes its view down, not the page, and says what it was.
class Boundary extends Component {
  constructor() {
    super();
    this.state = { fault: null };
  }

  static getDerivedStateFromError(fault) {
    return { fault };
  }

  render({ children }, { fault }) {
    if (!fault) return children;
    return html`<${Heading} title="This view cannot be shown" />
      <p class="fault">${String(fault)}</p>
      <p>The browser may be too old, or a result file odd. <a href=${address("board")}>To the leaderboard</a></p>`;
  }
}

function View({ route: { view, parts, query } }) {
  if (view === "board") return html`<${Board} query=${query} />`;
  if (view === "pictures") return html`<${Pictures} query=${query} />`;
  if (view === "compare") return html`<${Versus} ids=${parts} query=${query} />`;
  if (view === "scenario") return html`<${Scenario} key=${parts[0]} id=${parts[0]} query=${query} />`;
  if (view === "case") return html`<${CaseView} key=${parts[0]} id=${parts[0]} caseId=${parts[1]} query=${query} />`;
  return html`<${Unknown} id=${view} />`;
}

function Help() {
  return html`<dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl class="pairs">${KEYS.map(([key, meaning]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${meaning}</dd></div>`)}</dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

const showHelp = () => document.getElementById("help").showModal();

function pressed(event) {
  if (!isForPage(event)) return;
  const place = ["1", "2", "3"].indexOf(event.key);
  if (place >= 0) go(address(VIEWS[place][0]));
  else if (event.key === "?") showHelp();
  else if (event.key === "u") go(document.querySelector(".crumbs a")?.getAttribute("href") ?? address("board"));
  else if (event.key === "/" && document.getElementById("filter")) {
    event.preventDefault();
    document.getElementById("filter").focus();
  }
}

function App() {
  const route = useRoute();
  const theme = useTheme();
  const first = useRef(true);
  const place = [route.view, ...route.parts, route.query.case ?? ""].join("\n");
  useLayoutEffect(() => {
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  useLayoutEffect(() => {
    // A new view begins at its heading, for eyes and for screen readers alike; the first one at the top of the page.
    if (!first.current) {
      scrollTo(0, 0);
      document.querySelector("main h1")?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [place]);
  return html`<a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>To the content</a>
    <header>
      <a class="brand" href=${address("board")}><b>CtxSift</b> Bench</a>
      <nav aria-label="Views">
        ${VIEWS.map(([view, title]) => html`<a key=${view} href=${address(view)} aria-current=${route.view === view ? "page" : undefined}>${title}</a>`)}
      </nav>
      <button type="button" onClick=${toggleTheme} aria-label=${`switch to ${theme === "dark" ? "light" : "dark"}`}>${theme === "dark" ? "☀" : "☾"}</button>
      <button type="button" onClick=${showHelp} aria-label="keys">?</button>
    </header>
    <main id="main" tabindex="-1"><${Boundary} key=${place}><${View} route=${route} /><//></main>
    <${Help} />
    <div class="hidden" aria-live="polite" id="announced"></div>`;
}

render(html`<${App} />`, document.getElementById("app"));
