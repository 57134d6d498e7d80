import type { Headline, Load, Spectrum } from "./data";
import { Changes, Differences, Fates, type Change, type Fate } from "./difference";
import type { FlameSet } from "./flame/tree";
import { Downloads } from "./export";
import { atLeast, change, percent, rate, value } from "./format";
import { SpectrumChart } from "./spectrum";
import { start } from "./start";

interface Side { id: string; begun: string; state: string; target: string; revision: string; headline: Headline; load: Load; spectrum: Spectrum[] | null }
interface Metric { name: string; unit: string; higher_is_better: boolean; a: number; b: number; estimate: number; low: number; high: number; known: boolean; why: string }
interface Words { change: string; interval: string }
interface Data {
  runs: [string, string]; metrics: Metric[]; words: Words[]; parts: Change[]; tail: Change[]; functions: Change[]; warnings: string[]; caveat: string; sides: [Side, Side];
  findings: Fate[]; flames: FlameSet; missing: string[]; module: string;
}

const sides = ["a", "b"] as const;

function Compare({ data }: { data: Data }) {
  return (
    <>
      <a class="skip" href="#main">Skip to the figures</a>
      <header class={"headline " + colour(data.metrics)}><div class="inner">
        <p class="brand"><b>redline</b> <span>two runs of {data.sides[0].target === data.sides[1].target ? data.sides[1].target || "a service" : "different targets"}</span></p>
        <h1>{answer(data.metrics, data.words)}</h1>
        <div class="pair compared">
          {sides.map((name, i) => {
            const s = data.sides[i]!;
            return <div key={name}><p><b class={"side side-" + name}>{name}</b> {s.begun}{s.revision && <code> {s.revision.slice(0, 10)}</code>}{s.state !== "complete" && <b class="bad"> {s.state}</b>}</p>
              <p class="note">{s.id}</p><p>{s.headline.invalid ? <b class="bad">INVALID: {s.headline.invalid}</b> : s.headline.title}</p></div>;
          })}
        </div>
        <p class="note">{data.caveat}</p>
        {data.warnings.map((w, i) => <p class="banner state" key={i}>{w}</p>)}
      </div></header>
      <main id="main" class="shelf">
        <section aria-labelledby="metrics-title"><div class="section-head"><h2 id="metrics-title">Figures</h2><Downloads name="figures" what="Figures" table={() => ({ columns: ["figure", "unit", "higher_is_better", "a", "b", "change", "low", "high", "why_unknown"], rows: data.metrics.map((m) => [m.name, m.unit, String(m.higher_is_better), m.a, m.b, ...(m.known ? [m.estimate, m.low, m.high] : [null, null, null]), m.why]) })} /></div><Metrics metrics={data.metrics} words={data.words} /></section>
        <section aria-labelledby="latency-title"><h2 id="latency-title">Latency</h2>
          <div class="pair"><div class="card"><Percentiles sides={data.sides} /></div>
            <SpectrumChart curves={data.sides.flatMap((s, i) => (s.spectrum ?? []).filter((c) => c.kind === "latency").map((c) => ({ ...c, name: `run ${sides[i]}`, tone: String(i) })))} /></div>
        </section>
        <section aria-labelledby="findings-title"><h2 id="findings-title">New, resolved and unchanged findings</h2><Fates findings={data.findings} /></section>
        <Differences set={data.flames} />
        <Changes parts={data.parts} tail={data.tail} functions={data.functions} />
        {data.missing.length > 0 && <div class="card warning"><h3>Not on this page</h3><ul class="plain">{data.missing.map((m, i) => <li key={i}>{m}</li>)}</ul></div>}
      </main>
    </>
  );
}

// answer says which figures differ beyond noise, the largest change first.
function answer(metrics: Metric[], words: Words[]): string {
  const known = metrics.filter((m) => m.known);
  const size = (m: Metric) => Math.abs(Math.log1p(m.estimate)); // half and twice are equal changes
  const beyond = known.filter((m) => m.low > 0 || m.high < 0).sort((x, y) => size(y) - size(x));
  if (known.length === 0) return "No figure could be compared";
  if (beyond.length === 0) return "All differences may be noise";
  const text = beyond.slice(0, 3).map((m) => `${m.name.replaceAll("_", " ")} ${words[metrics.indexOf(m)]!.change}`).join(", ");
  const [noise, unknown] = [known.length > beyond.length, metrics.length > known.length];
  const rest = noise ? "; the rest may be noise" + (unknown ? ", or is unknown" : "") : unknown ? "; the rest is unknown" : "";
  return `In b: ${text}${beyond.length > 3 ? `, and ${beyond.length - 3} more` : ""}${rest}`.replaceAll(" %", "\u00a0%");
}

// colour is that of the page's edge: mixed answers have none.
function colour(metrics: Metric[]): string {
  const better = metrics.some((m) => m.known && m.high < 0);
  return metrics.some(worse) === better ? "neutral" : better ? "healthy" : "found";
}

const worse = (m: Metric) => m.known && m.low > 0;

// Metrics draws each change with its interval; one that holds zero is grey.
function Metrics({ metrics, words }: { metrics: Metric[]; words: Words[] }) {
  const most = Math.max(0.05, ...metrics.filter((m) => m.known).flatMap((m) => [Math.abs(m.low), Math.abs(m.high)]));
  const at = (v: number) => 50 + (Math.max(-most, Math.min(most, v)) / most) * 48;
  return (
    <div class="card scroll"><table class="metrics">
      <thead><tr><th scope="col">figure</th><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col">change, better to the left, with its 95 % interval</th></tr></thead>
      <tbody>{metrics.map((m, i) => {
        const kind = !m.known ? "" : m.low > 0 ? "worse" : m.high < 0 ? "better" : "noise";
        return (
          <tr key={m.name}><th scope="row">{m.name.replaceAll("_", " ")}</th><td class="num" data-label="a">{m.a > 0 ? value(m.a, m.unit) : "–"}</td><td class="num" data-label="b">{m.b > 0 ? value(m.b, m.unit) : "–"}</td>
            <td class="interval">{m.known
              ? <><svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><line x1="50" x2="50" y1="0" y2="12" class="zero" /><rect class={kind} x={at(m.low)} width={Math.max(at(m.high) - at(m.low), 0.6)} y="3" height="6" /></svg>
                <span class={kind}>{words[i]!.interval}</span>{kind === "noise" && <span>, may be noise</span>}</>
              : <>unknown: <small>{m.why}</small></>}</td></tr>
        );
      })}</tbody>
    </table></div>
  );
}

type Figure = "p50" | "p90" | "p95" | "p99" | "p99_9" | "max" | "mean";
const quantiles: [key: Figure, name: string, percentile: number][] = [["p50", "50 %", 50], ["p90", "90 %", 90], ["p95", "95 %", 95], ["p99", "99 %", 99], ["p99_9", "99.9 %", 99.9], ["max", "max", 100], ["mean", "mean", 100]];

function Percentiles({ sides: both }: { sides: [Side, Side] }) {
  const [a, b] = [both[0].load, both[1].load];
  return (
    <div class="scroll"><table>
      <thead><tr><th scope="col"><span class="vh">figure</span></th><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col" class="num">b / a − 1</th></tr></thead>
      <tbody>
        <tr><th scope="row">requests/s</th><td class="num">{rate(a.rate)}</td><td class="num">{rate(b.rate)}</td><td class="num">{a.rate > 0 && b.rate > 0 ? change(b.rate / a.rate - 1) : "–"}</td></tr>
        {quantiles.map(([key, name, percentile]) => <tr key={key}><th scope="row">{name}</th>{[a, b].map((l, i) => <td class="num" key={i}>{l.latency_ns[key] > 0 ? atLeast(l.latency_ns[key], l.latency_ns, percentile) : "–"}</td>)}
          <td class="num">{a.latency_ns[key] > 0 && b.latency_ns[key] > 0 ? change(b.latency_ns[key] / a.latency_ns[key] - 1) : "–"}</td></tr>)}
        <tr><th scope="row">errors</th>{[a, b].map((l, i) => <td class="num" key={i}>{l.requests > 0 ? percent(l.errors / l.requests) : "–"}</td>)}<td /></tr>
      </tbody>
    </table></div>
  );
}

start<Data>((data) => <Compare data={data} />);
