// Light or dark: as the system says, until the reader says otherwise.
import { useEffect, useState } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");
/** @type {Set<(theme: string) => void>} */
const listeners = new Set();

const root = document.documentElement;

const currentTheme = () => root.dataset.theme ?? "light";

const KEPT = "ctxsift-bench-theme";

/** What the reader said last; nothing where the browser keeps nothing. */
function keptTheme() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function keepTheme(theme) {
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    // Then it is forgotten with the page.
  }
}

let chosen = ["light", "dark"].includes(keptTheme() ?? "");

/** @param {string} theme */
function setTheme(theme) {
  root.dataset.theme = theme;
  for (const listener of listeners) listener(theme);
}

function toggleTheme() {
  const theme = currentTheme() === "dark" ? "light" : "dark";
  chosen = true;
  keepTheme(theme);
  setTheme(theme);
}

setTheme((chosen && keptTheme()) || (system.matches ? "dark" : "light"));
system.addEventListener("change", () => {
  if (!chosen) setTheme(system.matches ? "dark" : "light");
});

/** The colour of the ground on which pictures stand. */
const ground = () => getComputedStyle(root).getPropertyValue("--card").trim();

function useTheme() {
  const [theme, heard] = useState(currentTheme);
  useEffect(() => {
    listeners.add(heard);
    return () => {
      listeners.delete(heard);
    };
  }, []);
  return theme;
}

export { ground, toggleTheme, useTheme };
