// Light or dark: as the system says, until the reader says otherwise.
import { useEffect, useState } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

const currentTheme = () => document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");

function toggleTheme() {
  document.documentElement.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
  listeners.forEach((listener) => listener());
}

system.addEventListener("change", () => listeners.forEach((listener) => listener()));

function useTheme() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => {
    const changed = () => setTheme(currentTheme());
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, []);
  return theme;
}

export { currentTheme, toggleTheme, useTheme };
