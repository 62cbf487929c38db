// What two methods keep of the same questions; needs no browser.

/** @import { ProbePack } from "./page_records.d.ts" */
/**
 * A probe at a cut that both methods were asked; `gap` is the score of the second minus that of the first, and a flip
 * is kept by one of them alone.
 * @typedef {{
 *   session: string, probe: string, type: string, maker: string, question: string, at: number, a: number, b: number,
 *   gap: number, keptByA: boolean, keptByB: boolean, isFlip: boolean,
 * }} SharedQuestion
 */

const KEPT = "kept";

/**
 * What both were asked.
 * @param {Pick<ProbePack, "states" | "sessions">} pack
 * @param {number} first place of a method
 * @param {number} second
 * @returns {SharedQuestion[]}
 */
function sharedQuestions({ states, sessions }, first, second) {
  const kept = states.indexOf(KEPT);
  return sessions.flatMap(({ name, probes }) =>
    probes.flatMap(({ id, type, maker, question, asked }) =>
      asked.flatMap((one) => {
        const [a, b] = [one.scores[first], one.scores[second]];
        if (a === null || b === null) return [];
        const [keptByA, keptByB] = [one.states[first] === kept, one.states[second] === kept];
        const about = { session: name, probe: id, type, maker, question, at: one.at };
        return [{ ...about, a, b, gap: b - a, keptByA, keptByB, isFlip: keptByA !== keptByB }];
      }),
    ),
  );
}

/**
 * How many questions of each type are kept by whom.
 * @param {string[]} types
 * @param {SharedQuestion[]} questions
 */
const countsByType = (types, questions) =>
  types.map((type) => {
    const own = questions.filter((one) => one.type === type);
    const count = (/** @type {boolean} */ byA, /** @type {boolean} */ byB) =>
      own.filter(({ keptByA, keptByB }) => keptByA === byA && keptByB === byB).length;
    return {
      type,
      asked: own.length,
      both: count(true, true),
      onlyA: count(true, false),
      onlyB: count(false, true),
      neither: count(false, false),
    };
  });

export { countsByType, sharedQuestions };
