// What the first sight of a page does not need: done one piece at a time while the browser is idle, in order, so
// that a click is answered in between.

import { useEffect } from "preact/hooks";

const waiting = new Set<() => void>();
let due = false;

// idle calls back when the browser has nothing better to do, and after half a second at the latest.
const idle = (work: () => void) => {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work, { timeout: 500 });
  else setTimeout(work, 20); // Safari
};

function next() {
  due = false;
  const [work] = waiting;
  if (!work) return;
  waiting.delete(work);
  ask();
  work();
}

function ask() {
  if (due || waiting.size === 0) return;
  due = true;
  idle(next);
}

// later does a piece of work when the browser is idle.
export function later(work: () => void) {
  waiting.add(work);
  ask();
}

// whenSeen draws something once its host comes near the screen, the page is printed, or the browser is idle,
// whichever is first. What it returns takes it back.
export function whenSeen(host: Element, draw: () => void): () => void {
  const stop = () => { waiting.delete(once); near.disconnect(); };
  const once = () => { stop(); draw(); };
  const near = new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting)) once(); }, { rootMargin: "50%" });
  near.observe(host);
  later(once);
  return stop;
}

addEventListener("beforeprint", () => {
  for (const work of [...waiting]) {
    waiting.delete(work);
    work();
  }
});

// useComplete marks the page once all of it is there and drawn: what waits for that (tests, a link to a section) sees
// html[data-complete].
export function useComplete(all: boolean) {
  useEffect(() => { if (all) later(complete); }, [all]);
}

const listeners: (() => void)[] = [];

function complete() {
  if (document.documentElement.dataset.complete) return;
  document.documentElement.dataset.complete = "true";
  for (const tell of listeners.splice(0)) tell();
}

// onComplete calls back when all of the page is there: at once where it is.
export function onComplete(tell: () => void) {
  if (document.documentElement.dataset.complete) tell();
  else listeners.push(tell);
}
