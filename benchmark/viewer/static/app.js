// The page: one view at a time, by the address.
import { html, render, useLayoutEffect, useRef, useState } from "./dom.js";
import { Board } from "./board.js";
import { CaseView } from "./case.js";
import { Pictures } from "./pictures.js";
import { Scenario, Unknown } from "./scenario.js";
import { Versus } from "./versus.js";
import { address, go, useRoute } from "./route.js";
import { toggleTheme, useTheme } from "./theme.js";

const VIEWS = [["board", "Leaderboard"], ["pictures", "Pictures"], ["compare", "Head to head"]];
const KEYS = [
  ["1 2 3", "leaderboard, pictures, head to head"],
  ["/", "find"],
  ["j k, → ←", "next and previous case"],
  ["u", "up: from a case to its scenario, from there to the leaderboard"],
  ["?", "this list"],
];

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

function pressed(event, { view, parts }) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, select, textarea, dialog")) return;
  const place = ["1", "2", "3"].indexOf(event.key);
  if (place >= 0) go(address(VIEWS[place][0]));
  else if (event.key === "?") showHelp();
  else if (event.key === "u" && view !== "board") go(view === "case" ? address("scenario", [parts[0]]) : address("board"));
  else if (event.key === "/" && document.getElementById("filter")) {
    event.preventDefault();
    document.getElementById("filter").focus();
  }
}

function App() {
  const route = useRoute();
  const theme = useTheme();
  const [where, setWhere] = useState("");
  const first = useRef(true);
  const place = [route.view, ...route.parts, route.query.case ?? ""].join("\n");
  // At once, not after the next frame: keys may follow each other quickly.
  useLayoutEffect(() => {
    const listener = (event) => pressed(event, route);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  });
  useLayoutEffect(() => {
    setWhere(document.querySelector("main h1")?.textContent ?? "");
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
    <main id="main" tabindex="-1"><${View} route=${route} /></main>
    <${Help} />
    <div class="hidden" aria-live="polite">${where}</div>`;
}

render(html`<${App} />`, document.getElementById("app"));
