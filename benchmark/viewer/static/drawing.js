// An SVG picture of the page as a file of its own: with its colours, which the style of the page gives it.
import { SHARPNESS } from "./take.js";
import { ground } from "./theme.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "text-decoration"];

/**
 * A copy that needs no style sheet, on the ground of the page.
 * @param {SVGSVGElement} drawn
 */
function standalone(drawn) {
  const copy = /** @type {SVGSVGElement} */ (drawn.cloneNode(true));
  const { width, height } = drawn.getBoundingClientRect();
  const originals = drawn.querySelectorAll("*");
  for (const [place, each] of copy.querySelectorAll("*").entries()) {
    const style = getComputedStyle(originals[place]);
    for (const name of STYLED) each.setAttribute(name, style.getPropertyValue(name));
    each.removeAttribute("class");
  }
  const behind = document.createElementNS(NAMESPACE, "rect");
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: ground() })) {
    behind.setAttribute(name, value);
  }
  copy.prepend(behind);
  for (const [name, value] of Object.entries({ xmlns: NAMESPACE, width, height })) copy.setAttribute(name, `${value}`);
  copy.removeAttribute("class");
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/**
 * The text of the picture in an element; empty where it has none.
 * @param {Element | null} region
 */
function svgOf(region) {
  const drawn = region?.querySelector("svg");
  return drawn ? standalone(drawn).text : "";
}

/**
 * The address of a PNG of the picture in an element; empty where it has none.
 * @param {Element | null} region
 */
async function pngOf(region) {
  const drawn = region?.querySelector("svg");
  if (!drawn) return "";
  const { text, width, height } = standalone(drawn);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * SHARPNESS);
  canvas.height = Math.round(height * SHARPNESS);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

export { pngOf, svgOf };
