// Light or dark: as the system says, until the reader says otherwise.
import { useEffect, useState } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");
/** @type {Set<(theme: string) => void>} */
const listeners = new Set();

const root = document.documentElement;

const currentTheme = () => root.dataset.theme ?? "light";

/** @param {string} theme */
function setTheme(theme) {
  root.dataset.theme = theme;
  for (const listener of listeners) listener(theme);
}

const toggleTheme = () => setTheme(currentTheme() === "dark" ? "light" : "dark");

setTheme(system.matches ? "dark" : "light");
system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));

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

export { toggleTheme, useTheme };
