// What changes the score of a model: a table and charts of each experiment, as benchmark.stress has them.
import { Heading, html } from "./dom.js";
import { Picture } from "./pictures.js";
import { stressPack, useLoaded } from "./store.js";
import { Copied } from "./take.js";

/** @import { StressSection } from "./page_records.d.ts" */

/** @param {{ section: StressSection }} props */
function Figures({ section: { file, titles, rows } }) {
  if (!rows.length) return html`<p class="empty">No scenario was asked.</p>`;
  return html`<${Copied} label=${`figures of ${file}`}>
    <table class="judged">
      <thead><tr>${titles.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map(
        ([name, ...cells]) => html`<tr>
          <th scope="row">${name}</th>
          ${cells.map((cell) => html`<td class="number">${cell}</td>`)}
        </tr>`,
      )}</tbody>
    </table>
  <//>`;
}

/** @param {{ section: StressSection }} props */
function Section({ section }) {
  const { about, charts, file, id, lines, title } = section;
  return html`<section>
    <h2>${title}</h2>
    <p class="lead">${about}</p>
    ${lines.length > 0 && html`<ul class="notes">${lines.map((line) => html`<li>${line}</li>`)}</ul>`}
    <${Figures} section=${section} />
    ${charts.map(
      (chart) => html`<${Picture}
        key=${chart.title}
        name=${id}
        title=${chart.title}
        data=${chart.data}
        own=${chart}
      />`,
    )}
    <p class="legend">From <code>${file}</code>; <code>docs/stress.md</code> explains the columns.</p>
  </section>`;
}

function Stress() {
  const pack = useLoaded(stressPack, []);
  return html`<${Heading} title="What changes the score of a model" />
    ${
      pack
        ? pack.sections.map((section) => html`<${Section} key=${section.id} section=${section} />`)
        : html`<p role="status">Unpacking…</p>`
    }`;
}

export { Stress };
