// On paper a page is as wide as A4 and Letter leave it, and light. Canvases keep the size and the colours that they were
// drawn with, so they are drawn anew for it, and again for the screen.

import { useEffect, useState } from "preact/hooks";

const changed = new Set<() => void>();
let printing = false;

function turn(on: boolean) {
  printing = on;
  document.documentElement.classList.toggle("paper", on); // page.css
  for (const redraw of changed) redraw();
}
addEventListener("beforeprint", () => turn(true));
addEventListener("afterprint", () => turn(false));

// onPaper calls back when the page goes to paper and when it comes back from there.
export function onPaper(redraw: () => void): () => void {
  changed.add(redraw);
  return () => { changed.delete(redraw); };
}

export const isPaper = () => printing;

// usePaper renders a component anew when the page goes to paper and comes back.
export function usePaper(): boolean {
  const [, render] = useState(false);
  useEffect(() => onPaper(() => render(printing)), []);
  return printing;
}

// onWidth calls back with the width of a host's content, at once whenever it changes.
export function onWidth(host: HTMLElement, set: (width: number) => void): () => void {
  let last = 0;
  const measure = () => {
    const width = Math.floor(host.clientWidth);
    if (width > 0 && width !== last) set((last = width));
  };
  const observer = new ResizeObserver(measure);
  observer.observe(host);
  const stop = onPaper(measure);
  return () => { observer.disconnect(); stop(); };
}
