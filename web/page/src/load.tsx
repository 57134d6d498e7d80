import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Page, Quantiles, Spectrum } from "./data";
import { change, count, duration, percent, rate, size, tick } from "./format";
import { logSplits } from "./chart";
import { colour, onThemeChange, tone } from "./theme";

export function LoadSection({ page }: { page: Page }) {
  const load = page.summary.load;
  if (load.requests === 0) return null;
  const overhead = page.summary.overhead;
  return (
    <section id="load" aria-labelledby="load-title">
      <h2 id="load-title">Load</h2>
      <div class="pair">
        <div class="card">
          <h3>Latency distribution</h3>
          <QuantileTable page={page} />
          <p class="note">Latency counts from the intended start of a request, service time from its sending.</p>
        </div>
        <div class="card">
          <h3>What was sent</h3>
          <dl class="facts">
            <dt>Model</dt><dd>{load.intended_rate > 0 ? `open loop at ${rate(load.intended_rate)}/s` : `${load.model} loop`}, {count(load.connections)} connections</dd>
            <dt>Measured</dt><dd>{duration(load.duration_ns)}</dd>
            <dt>Requests</dt><dd>{count(load.requests)}{load.in_flight_at_end > 0 && `, ${count(load.in_flight_at_end)} more unfinished`}</dd>
            <dt>Successes</dt><dd>{rate(load.rate)}/s</dd>
            <dt>Errors</dt><dd class={load.errors > 0 ? "bad" : ""}>{count(load.errors)} ({percent(load.errors / load.requests)}){tally(load.error_kinds)}</dd>
            <dt>Status</dt><dd>{tally(load.status).replace(/^: /, "") || "–"}</dd>
            <dt>Bytes</dt><dd>{size(load.bytes_in)} read, {size(load.bytes_out)} written</dd>
            <dt>Generator</dt><dd>{duration(page.summary.generator.cpu_ns)} of CPU, {count(page.summary.generator.requests_per_cpu_s)} requests per CPU-second</dd>
            {overhead && <><dt>Observation</dt><dd>{change(overhead.estimate)} of throughput ({change(overhead.low)} to {change(overhead.high)}, {overhead.pairs} pairs)</dd></>}
          </dl>
        </div>
      </div>
      <SpectrumChart spectra={page.spectrum ?? []} />
    </section>
  );
}


function tally(counts: Record<string, number> | null): string {
  const parts = Object.entries(counts ?? {}).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${name} ${count(n)}`);
  return parts.length > 0 ? ": " + parts.join(", ") : "";
}

const quantiles: [keyof Quantiles, string][] = [
  ["p50", "50 %"], ["p90", "90 %"], ["p95", "95 %"], ["p99", "99 %"], ["p99_9", "99.9 %"], ["max", "max"], ["mean", "mean"],
];

function QuantileTable({ page }: { page: Page }) {
  const l = page.summary.load;
  const columns: [string, Quantiles][] = ([
    ["latency", l.latency_ns], ["service", l.service_ns], ["first byte", l.first_byte_ns], ["lag", l.lag_ns], ["errors", l.error_latency_ns],
  ] as [string, Quantiles][]).filter(([name, q]) => q.max > 0 || name === "latency");
  return (
    <div class="scroll">
      <table>
        <thead><tr><th scope="col"><span class="vh">percentile</span></th>{columns.map(([name]) => <th scope="col" class="num" key={name}>{name}</th>)}</tr></thead>
        <tbody>
          {quantiles.map(([key, name]) => (
            <tr key={key}><th scope="row">{name}</th>{columns.map(([column, q]) => <td class="num" key={column}>{duration(q[key])}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// SpectrumChart is HdrHistogram's percentile plot: the x axis is 1/(1-q), so
// that each nine has the same width.
function SpectrumChart({ spectra }: { spectra: Spectrum[] }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current || spectra.length === 0) return;
    const tails = [...new Set(spectra.flatMap((s) => s.tail))].sort((a, b) => a - b);
    const columns = spectra.map((s) => {
      const at = new Map(s.tail.map((t, i) => [t, s.values[i]!]));
      return tails.map((t) => at.get(t));
    });
    const axis = { stroke: () => colour("soft"), font: "11px system-ui, sans-serif", grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false } };
    const u = new uPlot({
      width: host.current.clientWidth, height: 220, padding: [10, 14, 0, 0], legend: { show: false }, cursor: { drag: { x: false, y: false }, y: false },
      scales: { x: { time: false, distr: 3, log: 10, range: (_, min, max) => [min, max] }, y: { distr: 3, log: 10, range: (_, min, max) => [Math.max(min, 1) * 0.8, Math.max(max, 10) * 1.25] } },
      axes: [
        { ...axis, size: 26, splits: (_, __, ___, max) => decades(max), filter: (_, splits) => splits, values: (_, splits) => splits.map(quantileName) },
        { ...axis, size: 62, splits: logSplits, filter: (_, splits) => splits, values: (_, splits) => splits.map((v) => (v == null ? "" : tick(v, "ns"))) },
      ],
      series: [{}, ...spectra.map((_, i) => ({ stroke: () => tone(i === 0 ? "0" : "1"), width: i === 0 ? 2 : 1.5, dash: i === 0 ? undefined : [5, 4], spanGaps: true, points: { show: false } }))],
    }, [tails, ...columns] as uPlot.AlignedData, host.current);
    const resize = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry!.contentRect.width);
      if (width > 0 && width !== u.width) u.setSize({ width, height: u.height });
    });
    resize.observe(host.current);
    const stop = onThemeChange(() => u.redraw(false, false));
    return () => { stop(); resize.disconnect(); u.destroy(); };
  }, [spectra]);
  if (spectra.length === 0) return null;
  return (
    <figure class="chart" id="chart-spectrum">
      <figcaption><b>Percentile spectrum</b><span class="note">each nine has the same width; the curve ends at the slowest request</span></figcaption>
      <ul class="legend">{spectra.map((s, i) => <li key={s.kind}><i class={"swatch tone tone-" + i} /><span class="legend-label">{s.kind === "service" ? "service time" : s.kind}</span></li>)}</ul>
      <div class="plot" ref={host} role="img" aria-label="Latency by percentile; the table above holds the main ones" />
    </figure>
  );
}

function decades(max: number): number[] {
  return Array.from({ length: Math.floor(Math.log10(max)) + 1 }, (_, i) => 10 ** i);
}

function quantileName(tail: number): string {
  const nines = Math.round(Math.log10(tail));
  return nines === 0 ? "0 %" : nines === 1 ? "90 %" : nines === 2 ? "99 %" : `99.${"9".repeat(nines - 2)} %`;
}
