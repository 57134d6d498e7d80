// What the page knows of a run that goes on: the lines of its charts over the last minutes, as the server
// keeps them too.

import type { Axis, Chart, Heat, Line, Values } from "./data";
import type { All, Layout, Windows } from "./live-stream";

const most = 6000; // windows
const mostPoints = 1500; // of a line that is drawn

export class Lines {
  charts: Layout[] = [];
  private values: Values[][] = [];
  first = 0;
  length = 0;
  missed = 0; // windows that never came; the server's ring is there to make this zero
  window = 0.1; // s
  heatWidth = 0.5;
  perDecade = 12;
  private heat = new Map<number, number[]>();

  reset(all: All) {
    this.window = all.window_ns / 1e9;
    this.heatWidth = all.heat_width;
    this.perDecade = all.per_decade;
    this.heat.clear();
    this.values = [];
    this.first = all.windows.from;
    this.length = 0;
    this.layout(all.charts ?? []);
    this.add(all.windows);
  }

  layout(charts: Layout[]) {
    this.charts = charts;
    charts.forEach((c, i) => {
      const lines = (this.values[i] ??= []);
      while (lines.length < c.lines.length) lines.push(new Array<number | null>(this.length).fill(null));
    });
  }

  add(w: Windows) {
    if (this.length === 0) this.first = w.from;
    this.missed += Math.max(0, w.from - (this.first + this.length));
    const grow = w.from + w.n - (this.first + this.length);
    if (grow > 0) this.reach(grow);
    for (const [chart, line, values] of w.lines ?? []) {
      const into = this.values[chart]?.[line];
      if (into) values.forEach((v, i) => { const at = w.from + i - this.first; if (at >= 0) into[at] = v; });
    }
    for (const [column, ...cells] of w.heat ?? []) this.heat.set(column!, cells);
  }

  private reach(grow: number) {
    const drop = this.length + grow > most * 1.1 ? this.length + grow - most : 0;
    for (const lines of this.values) {
      for (const line of lines) {
        for (let i = 0; i < grow; i++) line.push(null);
        if (drop > 0) line.splice(0, drop);
      }
    }
    this.first += drop;
    this.length += grow - drop;
    const oldest = Math.floor((this.first * this.window) / this.heatWidth);
    if (drop > 0) for (const column of this.heat.keys()) if (column < oldest) this.heat.delete(column);
  }

  // axis is that of the last so many windows, joined so that no line has more points than can be seen.
  axis(windows: number): Axis {
    const shown = Math.min(this.length, windows);
    const joined = Math.max(1, Math.ceil(shown / mostPoints));
    // Groups begin at whole numbers, so that a point does not change its windows as time goes on.
    const from = Math.ceil((this.first + this.length - shown) / joined) * joined;
    const points = Math.max(0, Math.floor((this.first + this.length - from) / joined));
    return { from: from * this.window, step: joined * this.window, points, windows: joined };
  }

  // chart returns a chart over an axis; null when it has nothing to show there.
  chart(id: string, axis: Axis): Chart | null {
    const at = this.charts.findIndex((c) => c.id === id);
    const layout = this.charts[at];
    if (!layout || axis.points === 0) return null;
    const lines: Line[] = [];
    const order = layout.lines.map((m, i) => ({ m, i })).sort((a, b) => a.m.order - b.m.order || a.i - b.i);
    for (const { m, i } of order) {
      const values = this.over(this.values[at]![i]!, axis);
      if (values.some((v) => v != null)) lines.push({ label: m.label, tone: m.tone, apart: m.apart, values });
    }
    return lines.length === 0 ? null : { ...layout, lines };
  }

  private over(values: Values, axis: Axis): Values {
    const from = Math.round(axis.from / this.window) - this.first;
    if (axis.windows === 1) return values.slice(from, from + axis.points);
    return Array.from({ length: axis.points }, (_, i) => {
      let sum = 0, n = 0;
      for (let k = 0; k < axis.windows; k++) {
        const v = values[from + i * axis.windows + k];
        if (v != null) { sum += v; n++; }
      }
      return n > 0 ? sum / n : null;
    });
  }

  // heatOver writes the heat map over an axis into heat; false where there is none.
  heatOver(axis: Axis, heat: Heat): boolean {
    const until = axis.from + axis.points * axis.step;
    let low = Infinity, high = -Infinity;
    const columns = [...this.heat].filter(([c]) => (c + 1) * this.heatWidth > axis.from && c * this.heatWidth < until).sort((a, b) => a[0] - b[0]);
    for (const [, cells] of columns) {
      for (let i = 0; i < cells.length; i += 2) { low = Math.min(low, cells[i]!); high = Math.max(high, cells[i]!); }
    }
    if (low > high) return false;
    heat.per_decade = this.perDecade;
    heat.row = low;
    heat.rows = high - low + 1;
    heat.edges = columns.flatMap(([c]) => [c * this.heatWidth, Math.min((c + 1) * this.heatWidth, until)]);
    heat.cells = columns.flatMap(([, cells], i) => cells.flatMap((v, k) => (k % 2 === 0 ? [i, v - low, cells[k + 1]!] : [])));
    return true;
  }
}
