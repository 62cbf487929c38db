/**
 * Keys belong to the page unless somebody types, or a dialog is open.
 * @param {KeyboardEvent} event
 */
const isForPage = (event) =>
  !event.ctrlKey &&
  !event.altKey &&
  !event.metaKey &&
  !(event.target instanceof Element && event.target.closest("input:not([type=checkbox]), select, textarea")) &&
  !document.querySelector("dialog[open]");

export { isForPage };
