// Pictures of methods that shorten a session, as SVG: the policy of the page allows no styles in its elements.
import { html, useEffect, useRef, useState } from "./dom.js";
import { pngOf, svgOf } from "./drawing.js";
import { fixed } from "./format.js";
import { columnOf, lengthOf, logTicks, namedMarks } from "./layout.js";
import { Saves } from "./take.js";

/** @import { MethodRow } from "./page_records.d.ts" */

const HEIGHT = 420;
const PAD = { left: 34, right: 12, top: 14, bottom: 40 };
const FULL = 5;
// Two names of lines closer than this would cover each other.
const APART = 0.3;

/** The width of an element, in pixels, also after it changes; 0 before it is known. */
function useWidth() {
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const measure = () => setWidth(region.current?.clientWidth ?? 0);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  return { region, width };
}

/**
 * A picture with the buttons that save it; it is drawn once its width is known.
 * @param {{ region: { current: HTMLElement | null }, title: string, children?: unknown }} props
 */
function Plotted({ region, title, children }) {
  return html`<div class="plotted" ref=${region}>${children}</div>
    ${
      children &&
      html`<${Saves} title=${title} asSvg=${() => svgOf(region.current)} asPng=${() => pngOf(region.current)} />`
    }`;
}

/**
 * Marks differ in shape, not in colour alone.
 * @param {{ row: MethodRow, x: number, y: number }} props
 */
function Dot({ row: { budget, is_control }, x, y }) {
  const kind = `dot${is_control ? " open" : ""}`;
  if (budget === null) return html`<rect class=${kind} x=${x - 5} y=${y - 5} width="10" height="10" />`;
  return html`<circle class=${kind} cx=${x} cy=${y} r="5" />`;
}

/**
 * Scores against the share of the tokens that is left; the ends of the scale are lines.
 * @param {{ rows: MethodRow[] }} props
 */
function ScoreByTokens({ rows }) {
  const { region, width } = useWidth();
  const measured = rows.filter((row) => !row.is_end);
  const low = Math.min(...measured.map(({ left }) => left)) / 1.15;
  const high = Math.max(...measured.map(({ left }) => left)) * 1.6;
  const xOf = (/** @type {number} */ left) =>
    PAD.left + (Math.log(left / low) / Math.log(high / low)) * (width - PAD.left - PAD.right);
  const yOf = (/** @type {number} */ score) => HEIGHT - PAD.bottom - (score / FULL) * (HEIGHT - PAD.top - PAD.bottom);
  const marks = measured.map((row) => ({ row, x: xOf(row.left), y: yOf(row.score.value), label: row.label }));
  const spots = namedMarks(marks, { width, height: HEIGHT - PAD.bottom });
  const ends = rows.filter((row) => row.is_end);
  const values = ends.map(({ score }) => score.value);
  const areNear = Math.max(...values) - Math.min(...values) < APART;
  const named = ends.map(({ label, score }) => ({ text: `${label} ${fixed(score.value, 2)}`, at: score.value }));
  const names = areNear ? [{ text: named.map(({ text }) => text).join(", "), at: Math.min(...values) }] : named;
  const drawn = html`<svg class="plot" width=${width} height=${HEIGHT} role="img"
      aria-label="score against tokens left, of each method; the tables below have its figures">
    ${[0, 1, 2, 3, 4, 5].map(
      (score) => html`<line class="grid" x1=${PAD.left} x2=${width - PAD.right} y1=${yOf(score)} y2=${yOf(score)} />
        <text class="tick" x=${PAD.left - 8} y=${yOf(score) + 4} text-anchor="end">${score}</text>`,
    )}
    ${logTicks(low, high).map(
      (tick) => html`<line class="grid" x1=${xOf(tick)} x2=${xOf(tick)} y1=${yOf(0)} y2=${yOf(0) + 5} />
        <text class="tick" x=${xOf(tick)} y=${yOf(0) + 18} text-anchor="middle">${fixed(100 * tick, 0)}%</text>`,
    )}
    <text class="tick" x=${width - PAD.right} y=${HEIGHT - 6} text-anchor="end">tokens left (logarithmic) →</text>
    ${ends.map(
      ({ score }) =>
        html`<line class="end" x1=${PAD.left} x2=${width - PAD.right} y1=${yOf(score.value)} y2=${yOf(score.value)} />`,
    )}
    ${
      ends.length > 0 &&
      names.map(
        ({ text, at }) =>
          html`<text class="tick" x=${width - PAD.right} y=${yOf(at) + 14} text-anchor="end">${text}</text>`,
      )
    }
    ${marks.map(({ row: { score }, x }) => {
      const { interval: ends } = score;
      return ends && html`<line class="whisker" x1=${x} x2=${x} y1=${yOf(ends.low)} y2=${yOf(ends.high)} />`;
    })}
    ${marks.map((mark) => {
      const spot = spots.get(mark);
      const end = spot && spot.x > mark.x ? spot.x - 2 : mark.x;
      return html`<g>
        ${spot?.isMoved && html`<line class="leader" x1=${mark.x} y1=${mark.y} x2=${end} y2=${spot.y} />`}
        <${Dot} ...${mark} />
        <text x=${spot?.x} y=${(spot?.y ?? 0) + 4}>${mark.label}</text>
      </g>`;
    })}
  </svg>`;
  return html`<${Plotted} region=${region} title="score by tokens left">${width > 0 && drawn}</>`;
}

const PANEL = { height: 230, left: 38, top: 12, bottom: 40 };
// From a line to its name.
const TO_NAME = 17;

/**
 * What methods keep of the same probes, from age to age; lines differ in colour and in dashes, and have their names.
 * @param {{ title: string, ages: number, probes: number, lines: { label: string, kept: (number | null)[] }[] }} props
 */
function KeptByAge({ title, ages, probes, lines }) {
  const { region, width } = useWidth();
  const right = width - TO_NAME - Math.max(...lines.map(({ label }) => lengthOf(label)));
  const bottom = PANEL.height - PANEL.bottom;
  const xOf = (/** @type {number} */ age) => PANEL.left + (age / (ages - 1)) * (right - PANEL.left);
  const yOf = (/** @type {number} */ share) => bottom - share * (bottom - PANEL.top);
  const ends = lines.map(({ label, kept }) => ({ label, y: yOf(kept.at(-1) ?? 0) }));
  const spots = columnOf(
    ends.map(({ y }) => y),
    PANEL.height - 8,
  );
  const drawn = html`<svg class="plot" width=${width} height=${PANEL.height} role="img"
      aria-label=${`${title}: share kept by age; the table below has the figures`}>
    ${[0, 0.5, 1].map(
      (share) => html`<line class="grid" x1=${PANEL.left} x2=${right} y1=${yOf(share)} y2=${yOf(share)} />
        <text class="tick" x=${PANEL.left - 6} y=${yOf(share) + 4} text-anchor="end">${100 * share}%</text>`,
    )}
    ${Array.from(
      { length: ages },
      (_, age) => html`<text class="tick" x=${xOf(age)} y=${bottom + 17} text-anchor="middle">${age}</text>
        <text class="tick" x=${xOf(age)} y=${bottom + 32} text-anchor="middle">n ${probes}</text>`,
    )}
    ${lines.map(({ kept }, place) =>
      kept.slice(1).map((share, before) => {
        const from = kept[before];
        if (share === null || from === null) return null;
        return html`<line class=${`kept-line l${place}`} x1=${xOf(before)} y1=${yOf(from)} x2=${xOf(before + 1)}
          y2=${yOf(share)} />`;
      }),
    )}
    ${ends.map(
      ({ label, y }, place) => html`<line class=${`kept-line thin l${place}`} x1=${right + 2} y1=${y} x2=${right + 14}
          y2=${spots[place]} />
        <text x=${right + TO_NAME} y=${spots[place] + 4}>${label}</text>`,
    )}
  </svg>`;
  return html`<${Plotted} region=${region} title=${`kept by age ${title}`}>${width > 0 && drawn}</>`;
}

export { KeptByAge, ScoreByTokens };
