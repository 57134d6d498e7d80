// Colours live in page.css, once for light and once for dark; canvases read
// them from there when they draw.

import { isPaper, onPaper } from "./paper";

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// tone resolves a line's tone (web/rundata/series.go).
export function tone(name: string): string {
  return /^\d+$/.test(name) ? colour("tone-" + (Number(name) % 8)) : colour(name);
}

// fade returns a #rrggbb colour with an opacity.
export function fade(hex: string, alpha: number): string {
  return hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

const states = [
  "running", "runnable", "gc-assist", "stop-the-world", "stopped-by-call", "lock", "sync",
  "channel", "select", "sleep", "network", "syscall",
];

// stateClass is the class that colours a state; one that this page does not
// know is coloured as other.
export function stateClass(state: string): string {
  return "state-" + (states.includes(state) ? state : "other");
}

const darkness = matchMedia("(prefers-color-scheme: dark)");

// isDark reports whether the page is shown dark; on paper it never is.
export const isDark = () => darkness.matches && !isPaper();

export function onThemeChange(redraw: () => void): () => void {
  darkness.addEventListener("change", redraw);
  const stop = onPaper(redraw);
  return () => { darkness.removeEventListener("change", redraw); stop(); };
}
