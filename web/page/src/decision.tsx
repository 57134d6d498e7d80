import type { Spectrum } from "./data";
import { Changes, Differences, Fates, type Change, type Fate } from "./difference";
import type { FlameSet } from "./flame/tree";
import { Downloads } from "./export";
import { Figure } from "./figure";
import { change, count, percent } from "./format";
import { SpectrumChart } from "./spectrum";
import { start } from "./start";

interface Metric { name: string; estimate: number; low: number; high: number; margin: number; verdict: string; mde: number; advisory: boolean; guard?: boolean; a: number; b: number; unit: string; why: string }
interface Decided { a: string; b: string; change: string; verdict: string; seen: string; effects: number[] }
interface Result {
  verdict: string; why: string; sides: [string, string]; pairs: number; metrics: Metric[] | null; decided: Decided[]; basis: string[]; warnings: string[] | null;
  alpha: number; confidence?: number; looks: number; planned: number; early?: boolean; detectable: string; aa: { pairs: number; false_positive: number; mde: number; different: string[] | null };
  baseline?: { blocks: number; launches: number }; // what side a is, if it was stored
}
interface Data extends Result {
  spectrum: Spectrum[]; also_against?: { base: string }; second: Result | null;
  observed: { parts: Change[]; tail: Change[]; functions: Change[]; findings: Fate[]; flames: FlameSet; missing: string[]; warnings: string[] } | null;
}

const sides = ["a", "b"] as const;
const kinds: Record<string, string> = { regression: "found", improvement: "healthy", pass: "healthy" };

// judged are the metrics of a result that has measured some; of nothing there is no effect.
const judged = (r: Result) => (r.pairs > 0 || r.baseline ? r.metrics ?? [] : []);

function Decision({ data }: { data: Data }) {
  const metrics = judged(data), second = data.second;
  return (
    <>
      <a class="skip" href="#main">Skip to the figures</a>
      <header class={"headline " + (kinds[data.verdict] ?? "open")}><div class="inner">
        <p class="brand"><b>redline</b> <span>{data.baseline ? "a service against a stored baseline" : "two versions of a service, in pairs of launches"}</span></p>
        <p class="eyebrow">Verdict</p>
        <h1 class="verdict">{data.verdict}</h1>
        <p class="lead">{inWords(data.why, metrics)}</p>
        <div class="pair compared">{sides.map((name, i) => data.sides[i] && <p key={name}><b class={"side side-" + name}>{name}</b> <code>{data.sides[i]}</code></p>)}</div>
        <dl class="figures">
          <Figures of={data} />
        </dl>
      </div></header>
      <main id="main" class="shelf">
        {metrics.length > 0 && (
          <section aria-labelledby="metrics-title">
            <div class="section-head"><h2 id="metrics-title">Changes and their margins</h2>
              <Downloads name="effects" what="Effects" table={() => ({
                columns: ["metric", "unit", "a", "b", "estimate", "low", "high", "margin", "mde", "verdict", "advisory"],
                rows: metrics.map((m) => [m.name, m.unit, m.a, m.b, m.estimate, m.low, m.high, m.margin, m.mde, m.verdict, String(m.advisory)]),
              })} /></div>
            <Metrics of={data} />
          </section>
        )}
        {second && (
          <section aria-labelledby="second-title"><h2 id="second-title">Also against {data.also_against?.base}</h2>
            <p class="note">{second.verdict}: {inWords(second.why, judged(second))}</p>
            {judged(second).length > 0 && <Metrics of={second} />}
            <div class="card"><ul class="plain">{second.basis.map((line, i) => <li key={i}>{line}</li>)}</ul></div></section>
        )}
        {data.spectrum.length === 2 && (
          <section aria-labelledby="latency-title"><h2 id="latency-title">Latency of both sides, all pairs together</h2>
            <SpectrumChart curves={data.spectrum.map((c, i) => ({ ...c, name: `side ${sides[i]}`, tone: String(i) }))} /></section>
        )}
        <section aria-labelledby="basis-title"><h2 id="basis-title">Basis of the verdict</h2>
          <div class="card"><ul class="plain">{data.basis.map((line, i) => <li key={i}>{line}</li>)}</ul>
            <p class="note">The launches that decide run without profiles and traces, whose cost would affect the comparison.</p></div>
        </section>
        {data.observed && <Observed of={data.observed} />}
      </main>
    </>
  );
}

// Observed says where the sides differ, of a launch of each that had no part in the decision.
function Observed({ of }: { of: NonNullable<Data["observed"]> }) {
  return (
    <>
      <section aria-labelledby="observed-title">
        <h2 id="observed-title">Where the sides differ</h2>
        <p class="note">From one more launch of each side after the decision, with profiles and traces. It shows where the sides differ, and does not affect the verdict.</p>
        {of.warnings.map((w, i) => <p class="banner state" key={i}>{w}</p>)}
        {of.findings.length > 0 && <Fates findings={of.findings} />}
      </section>
      <Differences set={of.flames} />
      <Changes parts={of.parts} tail={of.tail} functions={of.functions} />
      {of.missing.length > 0 && <div class="card warning"><h3>Not on this page</h3><ul class="plain">{of.missing.map((m, i) => <li key={i}>{m}</li>)}</ul></div>}
    </>
  );
}

// Figures says how much was measured, and how often such a comparison errs.
function Figures({ of }: { of: Result }) {
  if (of.baseline) {
    return <>
      <Figure name="launches" value={count(of.baseline.launches)} />
      {of.baseline.blocks > 0 && <Figure name="of the baseline" value={count(of.baseline.blocks)} />}
      <Figure name="false regressions" value="unknown" />
    </>;
  }
  return <>
    <Figure name="pairs" value={count(of.pairs)} />
    {(of.early || of.looks > 0) && <Figure name="looks" value={of.early ? "the first" : `${of.looks} of ${of.planned}`} />}
    {(of.early || of.looks > 0) && <Figure name="false regressions, by design" value={`≤ ${percent(of.alpha / 2)}`} />}
    {of.aa.mde > 0 && <Figure name="of identical sides, simulated" value={percent(of.aa.false_positive)} />}
    {of.aa.mde > 0 && <Figure name="detectable change" value={of.detectable} />}
  </>;
}

// inWords writes the names of metrics as the table does.
function inWords(text: string, metrics: Metric[]): string {
  return metrics.reduce((all, m) => all.replaceAll(m.name, m.name.replaceAll("_", " ")), text);
}

// written is a figure, or what all pages write of one that is missing.
const written = (figure: string) => (figure === "-" ? "–" : figure);

// Metrics draws each effect with its interval over the margin, and a dot for each pair.
function Metrics({ of }: { of: Result }) {
  const metrics = judged(of), decided = of.decided, confidence = of.confidence ?? 0;
  const known = (m: Metric) => m.a > 0 && m.b > 0;
  return (
    <div class="card scroll"><table class="metrics decided">
      <thead><tr><th scope="col">metric</th><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col" class="num">detectable</th><th scope="col">change, better to the left</th><th scope="col">verdict</th></tr></thead>
      <tbody>{metrics.map((m, i) => {
        const d = decided[i]!;
        // Every row is as wide as three of its margins either way, or as its interval needs: a pair beyond is at its edge.
        const half = Math.max(3 * m.margin, Math.abs(m.low) * 1.15, Math.abs(m.high) * 1.15);
        const at = (v: number) => 50 + Math.max(-1, Math.min(1, v / half)) * 49;
        const kind = !known(m) ? "" : m.low > 0 ? "worse" : m.high < 0 ? "better" : "noise";
        return (
          <tr key={m.name}>
            <th scope="row">{m.name.replaceAll("_", " ")}{m.guard ? <small> guard</small> : m.advisory && <small> advisory</small>}</th><td class="num" data-label="a">{written(d.a)}</td><td class="num" data-label="b">{written(d.b)}</td><td class="num" data-label="detectable">{written(d.seen)}</td>
            <td class="interval">{known(m) && (
              <svg viewBox="0 0 100 22" preserveAspectRatio="none" role="img" aria-label={`${m.name}: ${d.change}, margin ${percent(m.margin)}${d.effects.length > 0 ? `, ${d.effects.length} pairs` : ""}`}>
                <rect class="margin" x={at(-m.margin)} width={at(m.margin) - at(-m.margin)} y="0" height="22" />
                <line x1="50" x2="50" y1="0" y2="22" class="zero" />
                {d.effects.map((e, k) => <rect class="pair-dot" key={k} x={at(e) - 0.25} y={13 + (k % 4) * 2} width="0.5" height="2.4" />)}
                <rect class={kind} x={at(m.low)} width={Math.max(at(m.high) - at(m.low), 0.6)} y="4" height="5" />
                <rect class="estimate" x={at(m.estimate) - 0.2} width="0.4" y="2" height="9" />
              </svg>
            )}<span class={kind}>{d.change}</span> <span>· margin {change(m.margin).replace("+", "±")}</span></td>
            <td class={"verdict-" + m.verdict}>{d.verdict}</td>
          </tr>
        );
      })}</tbody>
    </table>
      <p class="note">Each bar is the interval of the change{confidence > 0 && `, which holds at ${+(100 * confidence).toFixed(1)}\u00a0%`}, with the estimate marked; the line is no change, better is to its left. The shaded area is the acceptable margin; a row spans three margins to either side, or as much as its interval needs.{decided.some((d) => d.effects.length > 0) && " Each stroke below is one pair of launches."}</p>
    </div>
  );
}

start<Data>((data) => <Decision data={data} />);
