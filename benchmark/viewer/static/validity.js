// How far scores can be trusted: what answers of known truth scored when it was measured last.
import { Heading, html } from "./dom.js";
import { fixed, plural } from "./format.js";
import { Picture } from "./pictures.js";
import { chartPack, useLoaded } from "./store.js";
import { Copied } from "./take.js";
import { visible } from "./text.js";

/** @import { PageJudgedAnswer, ValidityInfo } from "./page_records.d.ts" */

const FINAL_SCORES = "Final scores, 0 to 100, are drawn as shares of 100.";
const TITLE = "How far to trust the scores";

/** @param {{ title: string, answers: PageJudgedAnswer[] }} props */
function Answers({ title, answers }) {
  return html`<h2>${title}</h2>
    <${Copied} label=${title}><table class="judged">
      <thead><tr>
        <th scope="col" class="number">score</th><th scope="col">case</th>
        <th scope="col">kind</th><th scope="col">answer</th>
      </tr></thead>
      <tbody>${answers.map(
        ({ score, case_id, half, kind, text }) => html`<tr>
          <td class="number">${fixed(score, 2)}</td><td>${visible(case_id)} <span class="flag">${half}</span></td>
          <td>${visible(kind)}</td><td class="said">${visible(text)}</td>
        </tr>`,
      )}</tbody>
    </table><//>`;
}

/** @param {{ validity: ValidityInfo }} props */
function Verdict({ validity: { figures = 0, missed = [] } }) {
  if (!missed.length) return html`<p class="lead">All ${figures} targets are met.</p>`;
  const names = visible(missed.join("; "));
  return html`<p class="lead">${missed.length} of ${plural(figures, "target")} missed: ${names}.</p>`;
}

/** @param {{ validity: ValidityInfo }} props */
function Validity({ validity }) {
  const charts = useLoaded(chartPack, []);
  const { best_wrong = [], mismatch, other_versions, scorer_version, worst_right = [] } = validity;
  const whose = other_versions ? `; for results scored by version ${other_versions}, this is unknown` : "";
  const head = html`<${Heading} title=${TITLE} />`;
  if (mismatch) return html`${head}<p class="lead">Not known for these results: ${mismatch}.</p>`;
  if (!charts) return html`${head}<p role="status">Unpacking…</p>`;
  const of = (/** @type {boolean} */ whole) => charts.rows.measured.filter(({ is_whole }) => is_whole === whole);
  return html`${head}
    <${Verdict} validity=${validity} />
    <p>Version ${scorer_version} of the scorer scored answers whose truth is known: right ones in other words, plausible
      wrong ones, and some that say nothing${whose}. Nobody tuned the scorer on the held-out answers.</p>
    <${Picture} key="answers" name="validity" title="Answers of known truth" data=${{ measured: of(false) }} />
    <${Picture}
      key="corpus"
      name="validity"
      title="The whole corpus"
      data=${{ measured: of(true) }}
      note=${FINAL_SCORES}
    />
    ${worst_right.length > 0 && html`<${Answers} title="Right answers that score least" answers=${worst_right} />`}
    ${best_wrong.length > 0 && html`<${Answers} title="Wrong answers that score most" answers=${best_wrong} />`}
    <p class="legend">Case scores from 0 to 1.</p>`;
}

export { Validity };
