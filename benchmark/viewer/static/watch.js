// The page around the results while runs go on: it asks its server, once a second, what there is.

/**
 * What the server says.
 * @typedef {{ version: number, strip: string, runs: string[][] }} Watched
 */

const PAUSE_MS = 1000;
const summary = /** @type {HTMLElement} */ (document.getElementById("summary"));
const rows = /** @type {HTMLElement} */ (document.getElementById("runs"));
const page = /** @type {HTMLIFrameElement} */ (document.getElementById("page"));
let shown = -1;

/** @param {string[][]} runs */
function showRuns(runs) {
  const lines = runs.map((cells) => {
    const line = document.createElement("tr");
    for (const cell of cells) line.insertCell().textContent = cell;
    return line;
  });
  rows.replaceChildren(...lines);
}

/** The address of the view is that of this page, too, so that it can be copied, and survives a reload. */
function followAddress() {
  const inner = page.contentWindow;
  if (!inner) return;
  const copy = () => history.replaceState(null, "", inner.location.hash || location.pathname);
  inner.addEventListener("hashchange", copy);
  if (inner.location.hash) copy();
}

/** @param {number} version */
function showPage(version) {
  if (shown < 0) page.src = `page.html${location.hash}`;
  else page.contentWindow?.location.reload();
  shown = version;
}

async function look() {
  try {
    const answer = await fetch("runs.json", { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    const watched = /** @type {Watched} */ (await answer.json());
    summary.textContent = watched.strip;
    document.title = `${watched.strip} · CtxSift Bench`;
    showRuns(watched.runs);
    if (watched.version !== shown) showPage(watched.version);
  } catch {
    summary.textContent = "The viewer has ended. The page shows what there was.";
  }
  setTimeout(look, PAUSE_MS);
}

page.addEventListener("load", followAddress);
look();
