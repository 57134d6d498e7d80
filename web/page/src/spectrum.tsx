import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { logSplits } from "./chart";
import { Downloads } from "./export";
import { tick } from "./format";
import { whenSeen } from "./later";
import { onWidth } from "./paper";
import { colour, onThemeChange, tone } from "./theme";

// Curve is one line of the plot: values by 1/(1-q).
export interface Curve { name: string; tone?: string; tail: number[]; values: number[] }

// height of the plot in pixels.
const height = 220;

function plot(host: HTMLElement, spectra: Curve[]): uPlot {
  const tails = [...new Set(spectra.flatMap((s) => s.tail))].sort((a, b) => a - b);
  const columns = spectra.map((s) => {
    const at = new Map(s.tail.map((t, i) => [t, s.values[i]!]));
    return tails.map((t) => at.get(t));
  });
  const axis = { stroke: () => colour("soft"), font: "11px system-ui, sans-serif", grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false } };
  return new uPlot({
    width: host.clientWidth, height, padding: [10, 14, 0, 0], legend: { show: false }, cursor: { drag: { x: false, y: false }, y: false },
    scales: { x: { time: false, distr: 3, log: 10, range: (_, min, max) => [min, max] }, y: { distr: 3, log: 10, range: (_, min, max) => [Math.max(min, 1) * 0.8, Math.max(max, 10) * 1.25] } },
    axes: [
      { ...axis, size: 26, splits: (u, __, ___, max) => decades(max, u.bbox.width / devicePixelRatio), filter: (_, splits) => splits, values: (_, splits) => splits.map(quantileName) },
      { ...axis, size: 62, splits: logSplits, filter: (_, splits) => splits, values: (_, splits) => splits.map((v) => (v == null ? "" : tick(v, "ns"))) },
    ],
    series: [{}, ...spectra.map((s, i) => ({ stroke: () => tone(s.tone ?? (i === 0 ? "0" : "1")), width: i === 0 ? 2 : 1.5, dash: i === 0 ? undefined : [5, 4], spanGaps: true, points: { show: false } }))],
  }, [tails, ...columns] as uPlot.AlignedData, host);
}

// SpectrumChart is HdrHistogram's percentile plot: the x axis is 1/(1-q), so
// that each nine has the same width.
export function SpectrumChart({ curves: spectra, id = "chart-spectrum" }: { curves: Curve[]; id?: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current || spectra.length === 0) return;
    const at = host.current;
    let u: uPlot | null = null;
    const notYet = whenSeen(at, () => { u = plot(at, spectra); });
    const still = onWidth(at, (width) => u?.setSize({ width, height: u.height }));
    const stop = onThemeChange(() => u?.redraw(false, true));
    return () => { notYet(); stop(); still(); u?.destroy(); };
  }, [JSON.stringify(spectra.map((s) => [s.name, s.tail.length, s.values.reduce((sum, v) => sum + v, 0)]))]);
  if (spectra.length === 0) return null;
  return (
    <figure class="chart" id={id}>
      <figcaption><b>Percentile spectrum</b><span class="note">each nine has the same width; the curve ends at the slowest request</span>
        <Downloads name="spectrum" what="Percentile spectrum" table={() => ({ columns: ["curve", "percentile", "one_in", "value_ns"], rows: spectra.flatMap((s) => s.tail.map((t, i) => [s.name, 100 * (1 - 1 / t), t, s.values[i]])) })} /></figcaption>
      <ul class="legend">{spectra.map((s, i) => <li key={s.name}><i class={"swatch tone tone-" + (s.tone ?? i)} /><span class="legend-label">{s.name}</span></li>)}</ul>
      <div class="plot" ref={host} style={{ minHeight: `${height}px` }} role="img" aria-label="Latency by percentile; the table above has the main ones" />
    </figure>
  );
}

// decades are the nines that an axis names, of as many as have room.
function decades(max: number, width: number): number[] {
  const all = Math.floor(Math.log10(max)) + 1;
  const every = Math.ceil((all * 58) / Math.max(width, 1));
  return Array.from({ length: Math.ceil(all / every) }, (_, i) => 10 ** (i * every));
}

function quantileName(tail: number): string {
  const nines = Math.round(Math.log10(tail));
  return nines === 0 ? "0 %" : nines === 1 ? "90 %" : nines === 2 ? "99 %" : `99.${"9".repeat(nines - 2)} %`;
}
