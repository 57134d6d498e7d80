import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { clockNote, instantText, timeOfDay, zoneName } from "./clock";
import type { Chart, Heat } from "./data";
import { draw, forget, groups, plan, quietly, times, wide, type Surroundings } from "./chart";
import { onSelect, select } from "./selection";
import { value } from "./format";
import type { Lines } from "./live-run";
import type { Layout, Mark } from "./live-stream";
import { onWidth } from "./paper";
import { onThemeChange } from "./theme";

const views: [number, string][] = [[600, "the last minute"], [3000, "the last 5 minutes"], [6000, "the last 10 minutes"]];

// Live is what charts draw from; draw is called when there is more.
export interface Live { lines: Lines; spans: Mark[]; windows: number; paused: boolean; listeners: Set<() => void> }

export function LiveCharts({ live, layout }: { live: Live; layout: Layout[] }) {
  const [zoomed, setZoomed] = useState(false);
  const [view, setView] = useState(live.windows);
  // Charts out of sight have older data, so that what is the whole of it for one is a part for another.
  useEffect(() => onSelect((span) => { if (span) { live.paused = true; setZoomed(true); } }), []);
  const follow = () => {
    select(null);
    live.paused = false;
    setZoomed(false);
    for (const redraw of live.listeners) redraw();
  };
  const filled = layout.filter((c) => c.lines.length > 0);
  const marks = live.spans.filter((s) => s.kind === "mark");
  return (
    <section id="series" aria-labelledby="series-title">
      <div class="section-head">
        <h2 id="series-title">Over time</h2>
        <p class="key">
          <span><i class="swatch warmup" />warm-up</span>
          {live.spans.some((s) => s.kind === "trace") && <span><i class="swatch trace" />execution trace</span>}
          {marks.length > 0 && <span><i class="swatch mark" />marked</span>}
          <label>Show <select value={view} onChange={(e) => { live.windows = Number(e.currentTarget.value); setView(live.windows); follow(); }}>
            {views.map(([n, name]) => <option key={n} value={n}>{name}</option>)}
          </select></label>
          {zoomed ? <button type="button" onClick={follow}>Paused: follow the run again</button> : <span class="hint">drag to zoom and pause</span>}
        </p>
      </div>
      {filled.length > 0 && zoneName() && <p class="note" id="clock">{clockNote()}</p>}
      {groups.map(([id, title]) => {
        const members = filled.filter((c) => c.group === id);
        return members.length > 0 && (
          <div class="group" key={id}>
            <h3>{title}</h3>
            <div class="chart-grid">{members.map((c) => <LiveChart key={c.id} layout={c} live={live} />)}</div>
          </div>
        );
      })}
      {marks.length > 0 && <ul class="plain marks" aria-label="Marked moments">{marks.map((m, i) => <li key={i} title={timeOfDay(m.from, 1)}><b>{m.from.toFixed(1)} s</b> {m.text}</li>)}</ul>}
    </section>
  );
}

// outline changes when a chart must be drawn anew instead of with more data.
function outline(c: Chart, heat: boolean): string {
  const p = plan(c);
  return JSON.stringify([heat, c.lines.map((l) => [l.label, l.tone]), p.series.map((s) => [s.spanGaps, (s.points as { show?: boolean } | undefined)?.show])]);
}

function LiveChart({ layout, live }: { layout: Layout; live: Live }) {
  const host = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const instant = useRef<HTMLElement>(null);
  useEffect(() => {
    // Hazard: a chart that is taken off the page is cleaned up only after the next paint, so that whatever calls back
    // before it finds the references empty.
    const at = host.current!, names = legend.current!, moment = instant.current!;
    const heat: Heat = { edges: [], per_decade: 1, row: 0, rows: 0, cells: [] };
    const around: Surroundings = { axis: { from: 0, step: 1, points: 0, windows: 1 }, spans: [], heat: null };
    let u: uPlot | null = null, chart: Chart | null = null, drawn = "", since = 0, seen = false, index: number | null = null;
    const read = () => {
      // The readings change ten times a second, so they are written to the text nodes and not through a render.
      chart?.lines.forEach((line, i) => {
        const cell = names.children[i]?.lastElementChild;
        let k = index ?? line.values.length - 1;
        if (index == null) while (k > 0 && line.values[k] == null) k--;
        if (cell) cell.textContent = value(line.values[k], chart!.unit);
      });
      moment.textContent = index == null ? "now" : instantText(around.axis.from + (index + 0.5) * around.axis.step);
    };
    const name = () => {
      names.replaceChildren(...chart!.lines.map((line) => {
        const item = document.createElement("li"), swatch = document.createElement("i"), label = document.createElement("span"), reading = document.createElement("span");
        swatch.className = "swatch tone tone-" + line.tone;
        label.className = "legend-label";
        label.textContent = label.title = line.label;
        reading.className = "reading";
        item.append(swatch, label, reading);
        return item;
      }));
      at.setAttribute("aria-label", `${layout.title}: ${chart!.lines.map((l) => l.label).join(", ")}`);
    };
    const redraw = () => {
      if (!seen || live.paused || document.hidden || !at.isConnected) return;
      const axis = live.lines.axis(live.windows);
      const next = live.lines.chart(layout.id, axis);
      if (!next) return;
      around.axis = axis;
      around.spans = live.spans;
      around.heat = layout.heat && live.lines.heatOver(axis, heat) ? heat : null;
      const now = performance.now(), shape = outline(next, around.heat != null);
      if (!u || (shape !== drawn && now - since > 1000)) {
        if (u) forget(u);
        at.replaceChildren();
        chart = next;
        quietly(() => { u = draw(at, next, around, (i) => { index = i; read(); }); });
        drawn = shape;
        since = now;
        name();
      } else if (next.lines.length === chart!.lines.length && next.lines.every((l, i) => l.label === chart!.lines[i]!.label)) {
        chart = next;
        quietly(() => u!.setData([times(axis), ...plan(next).data] as uPlot.AlignedData));
      }
      read();
    };
    // A busy browser reports several changes at once, the latest last.
    const sight = new IntersectionObserver((changes) => { seen = changes.at(-1)!.isIntersecting; redraw(); }, { rootMargin: "200px" });
    sight.observe(at);
    const still = onWidth(at, (width) => u?.setSize({ width, height: u.height }));
    const stop = onThemeChange(() => u?.redraw(false, true));
    live.listeners.add(redraw);
    return () => { live.listeners.delete(redraw); stop(); still(); sight.disconnect(); if (u) forget(u); };
  }, []);
  return (
    <figure class={"chart" + (wide.includes(layout.id) ? " wide" : "")} id={"chart-" + layout.id}>
      <figcaption><b>{layout.title}</b>{layout.note && <span class="note">{layout.note}</span>}<span class="instant" ref={instant} /></figcaption>
      <ul class="legend" ref={legend} />
      <div class={"plot" + (layout.heat ? " tall" : "")} ref={host} role="img" aria-label={layout.title} />
    </figure>
  );
}
