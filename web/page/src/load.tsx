import type { Page, Quantiles } from "./data";
import { change, count, duration, percent, rate, size } from "./format";
import { SpectrumChart } from "./spectrum";

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
      <SpectrumChart curves={(page.spectrum ?? []).map((s) => ({ name: s.kind === "service" ? "service time" : s.kind, ...s }))} />
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
