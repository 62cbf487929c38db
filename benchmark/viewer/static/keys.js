// Keys belong to the page unless somebody types, or a dialog is open.
const isForPage = (event) =>
  !event.ctrlKey && !event.altKey && !event.metaKey && !event.target.closest?.("input, select, textarea") && !document.querySelector("dialog[open]");

export { isForPage };
