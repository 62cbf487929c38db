// Where things of a picture stand; needs no browser.

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
/**
 * @typedef {{ x: number, y: number, label: string }} Mark a point of a picture, in pixels, and its name
 * @typedef {{ x: number, y: number, isMoved: boolean }} Spot where a name begins, on its middle line
 */

const LETTER = 6.8;
const HEIGHT = 14;
const RADIUS = 6;
const GAP = 9;
const MOST_STEPS = 60;
// Further off than this, a line leads from the point to its name.
const NEAR = 5;

/**
 * @param {Box} a
 * @param {Box} b
 */
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * A place for the name of each point: beside it or, where other names or points are, above or below that.
 * @template {Mark} Named
 * @param {Named[]} marks
 * @param {{ width: number, height: number }} size
 * @returns {Map<Named, Spot>}
 */
function namedMarks(marks, { width, height }) {
  /** @type {Box[]} */
  const taken = marks.map(({ x, y }) => ({ left: x - RADIUS, right: x + RADIUS, top: y - RADIUS, bottom: y + RADIUS }));
  /** @type {Map<Named, Spot>} */
  const found = new Map();
  for (const mark of [...marks].sort((a, b) => a.y - b.y || b.x - a.x)) {
    const long = lengthOf(mark.label);
    /** @type {Spot[]} */
    const spots = [];
    for (let step = 0; step <= MOST_STEPS; step += 1) {
      for (const sign of step ? [1, -1] : [1]) {
        const y = mark.y + (sign * step * HEIGHT) / 2;
        const isMoved = Math.abs(y - mark.y) > NEAR;
        spots.push({ x: mark.x + GAP, y, isMoved }, { x: mark.x - GAP - long, y, isMoved });
        // A column of names beside points that stand close together.
        if (isMoved) for (const out of [4, 8, 12]) spots.push({ x: mark.x + out * GAP, y, isMoved });
      }
    }
    const boxOf = (/** @type {Spot} */ { x, y }) => ({
      left: x - 1,
      right: x + long,
      top: y - HEIGHT / 2,
      bottom: y + HEIGHT / 2,
    });
    const isFree = (/** @type {Spot} */ spot) => {
      const box = boxOf(spot);
      const isInside = box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
      return isInside && !taken.some((other) => meet(box, other));
    };
    const spot = spots.find(isFree) ?? spots[0];
    taken.push(boxOf(spot));
    found.set(mark, spot);
  }
  return found;
}

/**
 * Marks of a logarithmic axis: 1, 2 and 5 of each power of ten between its ends.
 * @param {number} low
 * @param {number} high
 */
function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const digit of [1, 2, 5]) found.push(digit * 10 ** power);
  }
  return found.filter((tick) => tick >= low && tick <= high);
}

/**
 * Heights of names in a column: each as near to what it names as the others let it.
 * @param {number[]} heights
 * @param {number} bottom where the column ends
 */
function columnOf(heights, bottom) {
  const order = heights.map((_, place) => place).sort((a, b) => heights[a] - heights[b] || a - b);
  const found = [...heights];
  let free = Number.NEGATIVE_INFINITY;
  for (const place of order) {
    found[place] = Math.max(heights[place], free);
    free = found[place] + HEIGHT;
  }
  // What would leave the column at its end moves up, and all above it that is in the way.
  let end = bottom;
  for (const place of order.reverse()) {
    found[place] = Math.min(found[place], end);
    end = found[place] - HEIGHT;
  }
  return found;
}

/**
 * How long a name is in a picture, in pixels.
 * @param {string} name
 */
const lengthOf = (name) => LETTER * name.length;

export { columnOf, lengthOf, logTicks, namedMarks };
