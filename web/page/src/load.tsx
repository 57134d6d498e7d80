import { useMemo } from "preact/hooks";
import type { Page, Quantiles } from "./data";
import { Downloads } from "./export";
import { Failures } from "./failures";
import { atLeast, change, count, duration, percent, rate, size } from "./format";
import type { Latencies } from "./latencies";
import { Covered } from "./requests";
import { useSelection, type Span } from "./selection";
import { SpectrumChart, type Curve } from "./spectrum";

const kinds: [kind: string, name: string, of: (load: Page["summary"]["load"]) => Quantiles][] = [
  ["latency", "latency", (l) => l.latency_ns], ["service", "service", (l) => l.service_ns], ["firstbyte", "first byte", (l) => l.first_byte_ns],
  ["lag", "lag", (l) => l.lag_ns], ["error", "errors", (l) => l.error_latency_ns],
];

export function LoadSection({ page, latencies }: { page: Page; latencies: Latencies | null }) {
  const load = page.summary.load;
  const span = useSelection();
  const columns = useMemo(() => kinds.map(([kind, name, of]): [string, Quantiles] => [name, span && latencies ? latencies.counts(kind, span).quantiles() : of(load)])
    .filter(([name, q]) => q.max > 0 || name === "latency"), [page, latencies, span]);
  const curves = useMemo((): Curve[] => {
    const name = (kind: string) => (kind === "service" ? "service time" : kind);
    if (!span || !latencies) return (page.spectrum ?? []).map((s) => ({ ...s, name: name(s.kind) }));
    return ["latency", "service"].map((kind) => ({ name: name(kind), ...latencies.counts(kind, span).spectrum() })).filter((c) => c.tail.length > 0);
  }, [page, latencies, span]);
  if (load.requests === 0) return null;
  const overhead = page.summary.overhead;
  return (
    <section id="load" aria-labelledby="load-title">
      <div class="section-head"><h2 id="load-title">Load</h2>{span && <p class="key">{latencies ? <Covered latencies={latencies} span={span} /> : <span>of the whole run: the record does not keep latency by time</span>}</p>}</div>
      <div class="pair">
        <div class="card">
          <div class="section-head"><h3>Latency distribution</h3>
            <Downloads name="percentiles" what="Latency distribution" table={() => ({ columns: ["percentile", ...columns.map(([name]) => name + "_ns")], rows: quantiles.map(([key, name]) => [name, ...columns.map(([, q]) => q[key])]) })} /></div>
          <QuantileTable columns={columns} />
          <p class="note">Latency counts from the intended start of a request, service time from its sending.
            {columns.some(([, q]) => q.at_least_from) && " ≥ marks a lower bound, because some requests never ended."}
            {span && latencies && ` From the latency log, each within ${percent(latencies.exactness)}.`}
            {span && load.in_flight_at_end > 0 && " It excludes requests that never ended."}</p>
          {span && latencies && <During latencies={latencies} span={span} />}
        </div>
        <div class="card">
          <h3>Requests sent{span && ", in the whole run"}</h3>
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
      <Failures page={page} />
      <SpectrumChart curves={curves} />
    </section>
  );
}


function tally(counts: Record<string, number> | null): string {
  const parts = Object.entries(counts ?? {}).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${name} ${count(n)}`);
  return parts.length > 0 ? ": " + parts.join(", ") : "";
}

// During says how many requests ended in the selection.
function During({ latencies, span }: { latencies: Latencies; span: Span }) {
  const covered = latencies.covered(span);
  const [ended, errors] = [latencies.counts("latency", span).total, latencies.counts("error", span).total];
  if (!covered) return null;
  return (
    <dl class="facts">
      <dt>Requests</dt><dd>{count(ended + errors)}</dd>
      <dt>Successes</dt><dd>{rate(ended / (covered.to - covered.from))}/s</dd>
      <dt>Errors</dt><dd class={errors > 0 ? "bad" : ""}>{count(errors)}{ended + errors > 0 && ` (${percent(errors / (ended + errors))})`}</dd>
    </dl>
  );
}

type Figure = "p50" | "p90" | "p95" | "p99" | "p99_9" | "max" | "mean";
const quantiles: [key: Figure, name: string, percentile: number][] = [
  ["p50", "50 %", 50], ["p90", "90 %", 90], ["p95", "95 %", 95], ["p99", "99 %", 99], ["p99_9", "99.9 %", 99.9], ["max", "max", 100], ["mean", "mean", 100],
];

function QuantileTable({ columns }: { columns: [string, Quantiles][] }) {
  return (
    <div class="scroll">
      <table class="quantiles">
        <thead><tr><th scope="col"><span class="vh">percentile</span></th>{columns.map(([name]) => <th scope="col" class="num" key={name}>{name}</th>)}</tr></thead>
        <tbody>
          {quantiles.map(([key, name, percentile]) => (
            <tr key={key}><th scope="row">{name}</th>{columns.map(([column, q]) => <td class="num" key={column}>{q.max > 0 ? atLeast(q[key], q, percentile) : "–"}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
