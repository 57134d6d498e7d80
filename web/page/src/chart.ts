// One chart of the time axis, drawn by uPlot. All charts share cursor and zoom.

import uPlot from "uplot"; // 58 KB page and 31 ms for 3,000 windows, where ECharts took 637 KB and 1.2 s
import type { Axis, Chart, Heat, Line, MarkedSpan, Values } from "./data";
import { timeOfDay, zoneName } from "./clock";
import { tick } from "./format";
import { onSelect, select, selected, type Span } from "./selection";
import { colour, fade, tone } from "./theme";

const sync = uPlot.sync("run");

// groups are the headings that charts stand under.
export const groups: [string, string][] = [["load", "Load"], ["cpu", "CPU and memory"], ["network", "Network"], ["runtime", "Go runtime"], ["database", "Database"]];

// wide names the charts that a reader looks at first.
export const wide = ["throughput", "latency"];

export interface Surroundings { axis: Axis; spans: MarkedSpan[]; heat: Heat | null }

// times returns the middle of each point's span, in seconds.
export function times(axis: Axis): number[] {
  return Array.from({ length: axis.points }, (_, i) => axis.from + (i + 0.5) * axis.step);
}

// stacked adds up the lines from the first on; a missing value adds nothing,
// and where all are missing the stack is missing too.
function stacked(lines: Line[]): Values[] {
  const sums: Values[] = [];
  for (const [i, line] of lines.entries()) {
    const below = sums[i - 1];
    sums.push(line.values.map((v, j) => (v == null && below?.[j] == null ? null : (v ?? 0) + (below?.[j] ?? 0))));
  }
  return sums;
}

interface Plan { data: Values[]; series: uPlot.Series[]; bands: uPlot.Band[] }

// plan turns lines into uPlot's series: the stack first, then lines that stand
// apart, then the extremes of joined windows as bands.
export function plan(chart: Chart): Plan {
  const p: Plan = { data: [], series: [{}], bands: [] };
  const positive = (v: Values) => (chart.log ? v.map((x) => (x != null && x > 0 ? x : null)) : v);
  const stack = chart.stack ? chart.lines.filter((l) => !l.apart) : [];
  for (const [i, sum] of stacked(stack).entries()) {
    const line = stack[i]!;
    p.data.push(sum);
    p.series.push({ label: line.label, stroke: () => tone(line.tone), width: 1, fill: i === 0 ? () => fade(tone(line.tone), 0.55) : undefined, points: { show: false } });
    if (i > 0) p.bands.push({ series: [i + 1, i], fill: () => fade(tone(line.tone), 0.55) });
  }
  for (const line of chart.lines.filter((l) => !stack.includes(l))) {
    const limit = line.tone === "limit" || line.tone === "muted";
    p.data.push(positive(line.values));
    p.series.push({
      label: line.label, stroke: () => tone(line.tone), width: limit ? 1 : 1.5, dash: line.tone === "limit" ? [5, 4] : undefined,
      ...(line.tone === "limit" ? { spanGaps: true, points: { show: false } } : gaps(line.values)), // a limit holds between readings too
    });
    if (line.low && line.high) {
      p.data.push(positive(line.high), positive(line.low));
      p.series.push({ width: 0, points: { show: false } }, { width: 0, points: { show: false } });
      const at = p.series.length;
      p.bands.push({ series: [at - 2, at - 1], fill: () => fade(tone(line.tone), 0.18) });
    }
  }
  return p;
}

// gaps says how a line with missing values is drawn. One that is read less often
// than there are windows, at an even pace, is connected; a value without a
// neighbour in any other line would be invisible and gets a point; the others get none.
function gaps(v: Values): Pick<uPlot.Series, "spanGaps" | "points"> {
  const at = v.flatMap((x, i) => (x == null ? [] : [i]));
  const steps = at.slice(1).map((x, i) => x - at[i]!);
  const even = steps.length > 2 && Math.min(...steps) > 1 && Math.max(...steps) <= 1.5 * Math.min(...steps);
  const lonely = even ? [] : at.filter((i) => v[i - 1] == null && v[i + 1] == null);
  return { spanGaps: even, points: { show: lonely.length > 0, size: 4, filter: () => lonely } };
}

// besides reports that the throughput stands beside the latency, not above it (page.css).
const besides = () => matchMedia("(min-width: 110rem)").matches;

// heightOf is a chart's height in pixels.
export function heightOf(chart: Chart): number {
  return (chart.heat || (chart.id === "throughput" && besides()) ? 270 : chart.id === "throughput" ? 170 : 150) + (zoneName() ? 14 : 0);
}

export function draw(host: HTMLElement, chart: Chart, around: Surroundings, onCursor: (index: number | null) => void): uPlot {
  const p = plan(chart);
  const heat = chart.heat ? around.heat : null;
  const u = new uPlot({
    width: Math.max(host.clientWidth, 200),
    height: heightOf(chart),
    padding: [10, 14, 0, 0], // the same for all, so that instants stand in one column
    legend: { show: false },
    cursor: { sync: { key: sync.key, scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 5 }, y: false },
    scales: { x: { time: false }, y: chart.log ? { distr: 3, log: 10, range: (_, min, max) => logRange(min, max, heat) } : { range: linearRange } },
    axes: [xAxis(), yAxis(chart)],
    series: p.series,
    bands: p.bands,
    hooks: {
      drawClear: [(u) => shade(u, around.spans)],
      drawAxes: [(u) => { if (heat) drawHeat(u, heat); }], // over the grid, under the lines
      setCursor: [(u) => onCursor(u.cursor.idx ?? null)],
      setScale: [(u, key) => { if (key === "x") selectAs(u); }],
    },
  }, [times(around.axis), ...p.data] as uPlot.AlignedData, host);
  sync.sub(u);
  if (selected()) zoom(u, selected());
  return u;
}

function linearRange(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  const top = max != null && max > 0 ? max * 1.08 : 1;
  return [min != null && min < 0 ? min * 1.08 : 0, top];
}

function logRange(min: number | null, max: number | null, heat: Heat | null): uPlot.Range.MinMax {
  let low = min != null && min > 0 ? min : 1e3;
  let high = max != null && max > 0 ? max : 1e9;
  if (heat) {
    low = Math.min(low, 10 ** (heat.row / heat.per_decade));
    high = Math.max(high, 10 ** ((heat.row + heat.rows) / heat.per_decade));
  }
  return [low * 0.8, Math.max(high * 1.25, low * 4)];
}

export function logSplits(_: uPlot, __: number, min: number, max: number): number[] {
  const decades = Math.log10(max / min);
  const steps = decades < 1.6 ? [1, 2, 5] : decades < 3 ? [1, 3] : [1];
  const out: number[] = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) {
    for (const s of steps) {
      const v = s * 10 ** e;
      if (v >= min && v <= max) out.push(v);
    }
  }
  return out;
}

const font = "11px system-ui, sans-serif";

function xAxis(): uPlot.Axis {
  return {
    stroke: () => colour("soft"), font, size: zoneName() ? 40 : 26, gap: 3, space: zoneName() ? 76 : 60,
    grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("grid"), width: 1, size: 4 },
    values: (_, splits) => splits.map((v) => `${+v.toFixed(3)} s` + (zoneName() && "\n" + timeOfDay(v, Number.isInteger(+v.toFixed(3)) ? 0 : 1))),
  };
}

function yAxis(chart: Chart): uPlot.Axis {
  return {
    stroke: () => colour("soft"), font, size: 62, gap: 4, space: 28,
    grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false },
    // Binary units want binary steps: 16 MiB, 32 MiB.
    ...(chart.unit.startsWith("bytes") && !chart.log ? { incrs: Array.from({ length: 50 }, (_, i) => 2 ** i) } : {}),
    ...(chart.log ? { splits: logSplits, filter: (_: uPlot, splits: number[]) => splits } : {}),
    values: (_, splits) => splits.map((v) => (v == null ? "" : tick(v, chart.unit))),
  };
}

// shade marks the spans behind the lines.
function shade(u: uPlot, spans: MarkedSpan[]) {
  clipped(u, () => {
    for (const span of spans) {
      const from = u.valToPos(span.from, "x", true);
      if (span.kind === "mark") {
        u.ctx.fillStyle = colour("accent");
        u.ctx.fillRect(from, u.bbox.top, 1.5 * devicePixelRatio, u.bbox.height);
        continue;
      }
      const to = u.valToPos(span.to, "x", true);
      u.ctx.fillStyle = colour(span.kind === "trace" ? "shade-trace" : "shade-warmup");
      u.ctx.fillRect(from, u.bbox.top, Math.max(to - from, 1), u.bbox.height);
    }
  });
}

// drawHeat draws the density of latency. The darkness is logarithmic in the
// number of requests, because a tail of ten must show beside a body of thousands.
function drawHeat(u: uPlot, heat: Heat) {
  const edge = (column: number, side: 0 | 1) => heat.edges[2 * column + side]!;
  // Requests per second, so that a short interval is not paler than a long one.
  const density = (i: number) => heat.cells[i + 2]! / Math.max(edge(heat.cells[i]!, 1) - edge(heat.cells[i]!, 0), 1e-3);
  let most = 1;
  for (let i = 0; i < heat.cells.length; i += 3) most = Math.max(most, density(i));
  const base = colour("heat");
  const shades = Array.from({ length: 17 }, (_, i) => fade(base, 0.05 + (0.8 * i) / 16));
  const y = (row: number) => u.valToPos(10 ** ((heat.row + row) / heat.per_decade), "y", true);
  clipped(u, () => {
    for (let i = 0; i < heat.cells.length; i += 3) {
      const column = heat.cells[i]!;
      const row = heat.cells[i + 1]!;
      const left = u.valToPos(edge(column, 0), "x", true);
      const right = u.valToPos(edge(column, 1), "x", true);
      const top = y(row + 1);
      u.ctx.fillStyle = shades[Math.round((16 * Math.log1p(density(i))) / Math.log1p(most))]!;
      u.ctx.fillRect(left, top, right - left + 0.5, y(row) - top + 0.5);
    }
  });
}

function clipped(u: uPlot, paint: () => void) {
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  u.ctx.clip();
  paint();
  u.ctx.restore();
}

let zooming = false;

let quiet = 0; // charts that move on

// quietly lets a chart move on with a run without a selection; uPlot settles in a microtask.
export function quietly(change: () => void) {
  quiet++;
  change();
  queueMicrotask(() => { quiet--; });
}

// selectAs makes what one chart was zoomed to the selection of the page.
function selectAs(from: uPlot) {
  const { min, max } = from.scales.x!;
  if (zooming || quiet > 0 || min == null || max == null) return;
  const data = from.data[0];
  const whole = data.length === 0 || (min <= data[0]! && max >= data[data.length - 1]!);
  if (whole) return select(null);
  // A point is the middle of its windows; the selection is of whole ones.
  const width = data.length > 1 ? data[1]! - data[0]! : 0.1;
  const edge = (v: number) => data[0]! + (Math.round((v - data[0]!) / width + 0.5) - 0.5) * width;
  const [begin, end] = [edge(min), edge(max)];
  select({ from: Math.max(0, begin), to: Math.max(end, begin + width) });
}

// zoom shows a span in one chart, or the whole run.
function zoom(u: uPlot, span: Span | null) {
  const data = u.data[0];
  if (data.length === 0) return;
  zooming = true;
  // A scale is set after the caller's turn unless it is set in a batch.
  u.batch(() => u.setScale("x", span ? { min: span.from, max: span.to } : { min: data[0]!, max: data[data.length - 1]! }));
  zooming = false;
}

onSelect((span) => { for (const u of sync.plots) zoom(u, span); });

export function forget(u: uPlot) {
  sync.unsub(u);
  u.destroy();
}
