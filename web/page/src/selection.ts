// The span of time that the reader selected: charts zoom to it, figures follow it, and the
// address holds it ("#t=12,18", or "#load&t=12,18" with a section).

import { useEffect, useState } from "preact/hooks";
import { onComplete } from "./later";

export interface Span { from: number; to: number } // s of the run

// least is the shortest span that can be selected, in seconds.
const least = 0.01;

let current: Span | null = fromAddress();
const listeners = new Set<(span: Span | null) => void>();

function fromAddress(): Span | null {
  const found = /[#&]t=(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)/.exec(location.hash);
  return found ? valid(Number(found[1]), Number(found[2])) : null;
}

function valid(from: number, to: number): Span | null {
  return Number.isFinite(from) && Number.isFinite(to) && from >= 0 && to - from >= least ? { from, to } : null;
}

// covering returns which of some spans lie in another for the most part; if none does, those that meet it.
export function covering(parts: Span[], span: Span): number[] {
  const shared = (p: Span) => Math.min(p.to, span.to) - Math.max(p.from, span.from);
  const inside = parts.flatMap((p, i) => (shared(p) > (p.to - p.from) / 2 ? [i] : []));
  return inside.length > 0 ? inside : parts.flatMap((p, i) => (shared(p) > 0 ? [i] : []));
}

// section returns the section that the address names.
export function section(): string {
  return location.hash.slice(1).split("&").find((part) => part !== "" && !part.startsWith("t=")) ?? "";
}

// address is the fragment of a section under a selection.
export function address(id: string, span: Span | null): string {
  return "#" + [id, span && `t=${+span.from.toFixed(3)},${+span.to.toFixed(3)}`].filter(Boolean).join("&");
}

export function selected(): Span | null { return current; }

// select changes the selection for the whole page; null is the whole run.
export function select(span: Span | null) {
  const next = span && valid(Math.max(0, span.from), span.to);
  if (span && !next) return; // what is typed may be half done
  if (next?.from === current?.from && next?.to === current?.to) return;
  current = next;
  history.replaceState(null, "", address(section(), current) === "#" ? location.href.split("#")[0]! : address(section(), current));
  for (const tell of listeners) tell(current);
}

export function onSelect(tell: (span: Span | null) => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

// useSelection renders a component again when the selection changes.
export function useSelection(): Span | null {
  const [span, setSpan] = useState(current);
  useEffect(() => {
    setSpan(current);
    return onSelect(setSpan);
  }, []);
  return span;
}

// go scrolls to a section and keeps the selection, which a plain link would drop.
export function go(id: string) {
  history.replaceState(null, "", address(id, current));
  const at = document.getElementById(id);
  if (at) at.scrollIntoView();
  else onComplete(() => document.getElementById(id)?.scrollIntoView());
}

// step moves or widens the selection by keys; whole is the run.
export function step(key: string, whole: Span): boolean {
  const length = whole.to - whole.from;
  const at = current;
  const within = (from: number, to: number): Span | null => {
    const size = to - from;
    if (size >= length) return null;
    const begin = Math.min(Math.max(from, whole.from), whole.to - size);
    return { from: begin, to: begin + size };
  };
  const size = at ? at.to - at.from : length;
  const middle = at ? (at.from + at.to) / 2 : (whole.from + whole.to) / 2;
  switch (key) {
    case "ArrowRight": select(at ? within(at.from + size / 2, at.to + size / 2) : within(whole.from, whole.from + length / 10)); break;
    case "ArrowLeft": select(at ? within(at.from - size / 2, at.to - size / 2) : within(whole.to - length / 10, whole.to)); break;
    case "ArrowUp": case "+": select(within(middle - size / 4, middle + size / 4)); break;
    case "ArrowDown": case "-": select(within(middle - size, middle + size)); break;
    case "Escape": select(null); break;
    default: return false;
  }
  return true;
}

addEventListener("hashchange", () => {
  const next = fromAddress();
  if (next?.from === current?.from && next?.to === current?.to) return;
  current = next;
  for (const tell of listeners) tell(current);
});

// Whoever answers Escape first, such as a flame graph that is zoomed, says so.
addEventListener("keydown", (e) => {
  if (e.key === "Escape" && !e.defaultPrevented && current && !(e.target instanceof HTMLInputElement)) select(null);
});

// seconds writes an instant of the run.
export function seconds(s: number): string {
  return `${+s.toFixed(2)} s`;
}

export function spanText(span: Span): string {
  return `${seconds(span.from)} to ${seconds(span.to)}`;
}
