// The stream of a run that goes on. A page that was away gets what it missed by the number of the last
// event; where a proxy holds the stream back, or other tabs have taken the browser's connections, the page
// asks again and again.

import type { Finding } from "./data";

export interface Layout { id: string; group: string; title: string; note: string; unit: string; stack: boolean; log: boolean; heat: boolean; lines: Member[] }
export interface Member { label: string; tone: string; apart: boolean; order: number }
export interface Now { done: number; total: number; warmup: boolean; rate: number; p50: number; p90: number; p99: number; max: number; in_flight: number; lag_p99: number; generator_cpu: number | null }
export interface SoFar { seconds: number; requests: number; errors: number; rate: number; latency_ns: { p50: number; p90: number; p95: number; p99: number; p99_9: number; max: number; mean: number } }
export interface Windows { from: number; n: number; lines: [number, number, (number | null)[]][] | null; heat: number[][] | null; now: Now | null; so_far: SoFar }
export interface Assessment { seconds: number; findings: Finding[] | null; weights: string[] | null; places: string[] | null; title: string; lead: string; found: boolean; skipped: string }
export interface Mark { kind: string; from: number; to: number; text?: string }
export interface Ending { state: "complete" | "aborted" | "failed"; why: string; dir: string; report: boolean; result: boolean }
export interface All {
  title: string; dir: string; window_ns: number; begun: boolean; epoch_wall: string; phase: string; messages: string[] | null; charts: Layout[] | null; spans: Mark[] | null;
  windows: Windows; heat_width: number; per_decade: number; findings: Assessment | null; assesses: boolean; end: Ending | null;
}

// Handlers take the events; each name is one of the server's.
export interface Handlers {
  all(a: All): void; layout(l: Layout[]): void; spans(s: Mark[]): void; windows(w: Windows): void; phase(p: string): void;
  message(m: string): void; findings(f: Assessment): void; end(e: Ending): void;
  // connected reports whether the server answers, and since when it does not.
  connected(yes: boolean): void;
}

const names = ["all", "layout", "spans", "windows", "phase", "message", "findings", "end"] as const;

// A browser opens six connections to one host and a stream takes one, so that four tabs stream and others ask.
const slots = 4;
const silence = 8_000; // ms after which a stream without a heartbeat is opened anew
const firstNews = 4_000; // ms after which a stream that brought nothing is held back by somebody
const pollEvery = 500;

export class Stream {
  private last = "";
  private source: EventSource | null = null;
  private heard = 0;
  private ended = false;
  private timer = 0;

  constructor(private readonly viewer: string, private readonly to: Handlers) {}

  start() {
    if (!navigator.locks) { // only where the page is served without TLS to another host
      this.stream();
      return;
    }
    this.takeSlot(0);
  }

  private takeSlot(slot: number) {
    if (slot === slots) {
      void this.poll();
      return;
    }
    // The lock is held as long as the page lives.
    void navigator.locks.request(`redline-live-${slot}`, { ifAvailable: true }, (lock) => {
      if (!lock) {
        this.takeSlot(slot + 1);
        return undefined;
      }
      this.stream();
      return new Promise(() => {});
    });
  }

  private address(more = "") {
    return `events?viewer=${encodeURIComponent(this.viewer)}&last=${encodeURIComponent(this.last)}${more}`;
  }

  private take(name: (typeof names)[number], id: string, data: string) {
    this.heard = performance.now();
    if (this.ended) return;
    if (id) this.last = id;
    this.to.connected(true);
    (this.to[name] as (v: unknown) => void)(JSON.parse(data));
    if (name === "end" || (name === "all" && (JSON.parse(data) as All).end)) this.stop();
  }

  private stream() {
    if (this.ended) return;
    const source = new EventSource(this.address());
    this.source = source;
    const opened = performance.now();
    this.heard = opened;
    let any = false;
    for (const name of names) source.addEventListener(name, (e) => { any = true; this.take(name, e.lastEventId, e.data as string); });
    source.addEventListener("beat", () => { any = true; this.heard = performance.now(); this.to.connected(true); });
    source.addEventListener("error", () => {
      if (this.ended) return;
      this.to.connected(false);
      if (source.readyState === EventSource.CLOSED) this.again(1_000);
    });
    clearInterval(this.timer);
    this.timer = window.setInterval(() => {
      const now = performance.now();
      if (!any && source.readyState === EventSource.OPEN && now - opened > firstNews) { // a proxy holds it back
        source.close();
        clearInterval(this.timer);
        void this.poll();
      } else if (now - this.heard > silence) {
        this.to.connected(false);
        this.again(0);
      }
    }, 1_000);
  }

  private again(after: number) {
    this.source?.close();
    clearInterval(this.timer);
    setTimeout(() => this.stream(), after);
  }

  private async poll() {
    while (!this.ended) {
      try {
        const answer = await fetch(this.address("&once"));
        if (!answer.ok) throw new Error(answer.statusText);
        const text = await answer.text();
        this.to.connected(true);
        for (const block of text.split("\n\n")) {
          const field = (name: string) => block.split("\n").find((l) => l.startsWith(name + ": "))?.slice(name.length + 2) ?? "";
          const name = names.find((n) => n === field("event"));
          if (name) this.take(name, field("id"), field("data"));
        }
      } catch {
        this.to.connected(false);
      }
      await new Promise((r) => setTimeout(r, pollEvery));
    }
  }

  stop() {
    this.ended = true;
    clearInterval(this.timer);
    this.source?.close();
  }
}
