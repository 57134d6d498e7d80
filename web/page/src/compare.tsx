import { useMemo, useState } from "preact/hooks";
import type { Headline, Load, Quantiles, Spectrum } from "./data";
import { Boxes, type Box } from "./flame/boxes";
import { FlameCanvas } from "./flame/canvas";
import { cardOf, labelOf } from "./flame/section";
import { Names, Tree, type FlameSet } from "./flame/tree";
import { change, duration, percent, rate, value } from "./format";
import { SpectrumChart } from "./spectrum";
import { start } from "./start";

interface Side { id: string; begun: string; state: string; target: string; revision: string; headline: Headline; load: Load; spectrum: Spectrum[] | null }
interface Metric { name: string; unit: string; a: number; b: number; estimate: number; low: number; high: number; known: boolean; why: string }
interface Change { place: string; a_ns: number; b_ns: number }
interface Data {
  runs: [string, string]; metrics: Metric[]; parts: Change[]; tail: Change[]; functions: Change[]; warnings: string[]; caveat: string; sides: [Side, Side];
  findings: { cause: string; title: string; place: string; a: string; b: string }[]; flames: FlameSet; missing: string[]; module: string;
}

const sides = ["a", "b"] as const;

function Compare({ data }: { data: Data }) {
  const lists: [string, Change[]][] = [["Where the mean request's time differs", data.parts], ["Where the slowest hundredth's differs", data.tail], ["CPU per request, by function", data.functions]];
  return (
    <>
      <a class="skip" href="#main">Skip to the figures</a>
      <header class="headline"><div class="inner">
        <p class="brand"><b>redline</b> <span>two runs</span></p>
        <h1>{data.sides[0].target === data.sides[1].target ? data.sides[1].target || "Two runs" : "Two runs of different targets"}</h1>
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
        <section aria-labelledby="metrics-title"><h2 id="metrics-title">Figures</h2><Metrics metrics={data.metrics} /></section>
        <section aria-labelledby="latency-title"><h2 id="latency-title">Latency</h2>
          <div class="pair"><div class="card"><Percentiles sides={data.sides} /></div>
            <SpectrumChart curves={data.sides.flatMap((s, i) => (s.spectrum ?? []).filter((c) => c.kind === "latency").map((c) => ({ ...c, name: `run ${sides[i]}`, tone: String(i) })))} /></div>
        </section>
        <section aria-labelledby="findings-title"><h2 id="findings-title">Findings that came and went</h2><Findings findings={data.findings} /></section>
        <Differences set={data.flames} />
        {lists.filter(([, list]) => list.length > 0).map(([title, list]) => (
          <section key={title}><h2>{title}</h2><div class="card scroll"><table>
            <thead><tr><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col" class="num">b − a</th><th scope="col">place</th></tr></thead>
            <tbody>{list.map((c, i) => <tr key={i}><td class="num">{duration(c.a_ns)}</td><td class="num">{duration(c.b_ns)}</td>
              <td class={"num " + (c.b_ns > c.a_ns ? "worse" : "better")}>{c.b_ns > c.a_ns ? "+" : ""}{duration(c.b_ns - c.a_ns)}</td><td><code>{c.place}</code></td></tr>)}</tbody>
          </table></div></section>
        ))}
        {data.missing.length > 0 && <div class="card warning"><h3>Not on this page</h3><ul class="plain">{data.missing.map((m, i) => <li key={i}>{m}</li>)}</ul></div>}
      </main>
    </>
  );
}

// Metrics draws each change with its interval; one that holds zero is grey.
function Metrics({ metrics }: { metrics: Metric[] }) {
  const most = Math.max(0.05, ...metrics.filter((m) => m.known).flatMap((m) => [Math.abs(m.low), Math.abs(m.high)]));
  const at = (v: number) => 50 + (Math.max(-most, Math.min(most, v)) / most) * 48;
  return (
    <div class="card scroll"><table class="metrics">
      <thead><tr><th scope="col">figure</th><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col" class="num">change, + is worse</th><th scope="col">95 % interval</th></tr></thead>
      <tbody>{metrics.map((m) => {
        const kind = !m.known ? "" : m.low > 0 ? "worse" : m.high < 0 ? "better" : "noise";
        return (
          <tr key={m.name}><th scope="row">{m.name.replaceAll("_", " ")}</th><td class="num">{m.a > 0 ? value(m.a, m.unit) : "–"}</td><td class="num">{m.b > 0 ? value(m.b, m.unit) : "–"}</td>
            <td class={"num " + kind}>{m.known ? change(m.estimate) : "unknown"}</td>
            <td class="interval">{m.known
              ? <><svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><line x1="50" x2="50" y1="0" y2="12" class="zero" /><rect class={kind} x={at(m.low)} width={Math.max(at(m.high) - at(m.low), 0.6)} y="3" height="6" /></svg>
                <span>{change(m.low)} to {change(m.high)}{kind === "noise" && ", may be noise"}</span></>
              : <small>{m.why}</small>}</td></tr>
        );
      })}</tbody>
    </table></div>
  );
}

const quantiles: [keyof Quantiles, string][] = [["p50", "50 %"], ["p90", "90 %"], ["p95", "95 %"], ["p99", "99 %"], ["p99_9", "99.9 %"], ["max", "max"], ["mean", "mean"]];

function Percentiles({ sides: both }: { sides: [Side, Side] }) {
  const [a, b] = [both[0].load, both[1].load];
  return (
    <div class="scroll"><table>
      <thead><tr><th scope="col"><span class="vh">figure</span></th><th scope="col" class="num">a</th><th scope="col" class="num">b</th><th scope="col" class="num">b / a − 1</th></tr></thead>
      <tbody>
        <tr><th scope="row">requests/s</th><td class="num">{rate(a.rate)}</td><td class="num">{rate(b.rate)}</td><td class="num">{a.rate > 0 && b.rate > 0 ? change(b.rate / a.rate - 1) : "–"}</td></tr>
        {quantiles.map(([key, name]) => <tr key={key}><th scope="row">{name}</th>{[a, b].map((l, i) => <td class="num" key={i}>{l.latency_ns[key] > 0 ? duration(l.latency_ns[key]) : "–"}</td>)}
          <td class="num">{a.latency_ns[key] > 0 && b.latency_ns[key] > 0 ? change(b.latency_ns[key] / a.latency_ns[key] - 1) : "–"}</td></tr>)}
        <tr><th scope="row">errors</th>{[a, b].map((l, i) => <td class="num" key={i}>{l.requests > 0 ? percent(l.errors / l.requests) : "–"}</td>)}<td /></tr>
      </tbody>
    </table></div>
  );
}

function Findings({ findings }: { findings: Data["findings"] }) {
  if (findings.length === 0) return <p>Neither run has any.</p>;
  return (
    <div class="card scroll"><table class="fates">
      <thead><tr><th scope="col"><span class="vh">what became of it</span></th><th scope="col">finding</th><th scope="col">a</th><th scope="col">b</th></tr></thead>
      <tbody>{findings.map((f, i) => {
        const fate = !f.a ? "came" : !f.b ? "went" : "stayed";
        return <tr key={i}><td><i class={"fate " + fate}>{fate}</i></td><td>{f.title}<br /><code>{f.place || f.cause}</code></td><td data-side="a">{f.a || "–"}</td><td data-side="b">{f.b || "–"}</td></tr>;
      })}</tbody>
    </table></div>
  );
}

function Differences({ set }: { set: FlameSet }) {
  const graphs = set.graphs ?? [];
  const names = useMemo(() => new Names(set), [set]);
  const trees = useMemo(() => new Map(graphs.map((g) => [g.id, new Tree(names, g)])), [set]);
  const [id, setId] = useState(graphs[0]?.id ?? "");
  const [column, setColumn] = useState(1);
  const [inverted, setInverted] = useState(false);
  const [query, setQuery] = useState("");
  const tree = trees.get(id);
  const drawing = useMemo(() => {
    if (!tree) return null;
    const boxes = new Boxes(tree, { column, other: 1 - column, lines: false, inverted });
    const { unit } = tree.graph.columns[0]!;
    const wholes = [0, 1].map((c) => tree.totals[c]![0]! || 1) as [number, number];
    const [ab, text] = [(box: Box) => (column === 0 ? [box.total, box.other] : [box.other, box.total]) as [number, number], query.trim().toLowerCase()];
    const differs = (box: Box): number => {
      const [a, b] = ab(box);
      const { each, share } = tree.graph.noise!;
      const least = Math.max(3 * Math.sqrt(a * each[0] + b * each[1]), share * Math.max(...wholes));
      return Math.abs(b - a) < least || a === b ? 0 : (b - a) / Math.max(a, b);
    };
    return {
      boxes, module: "", change: differs, described: `Difference of ${tree.graph.title}.`,
      label: (box: Box) => {
        const d = box.key < 0 ? 0 : differs(box);
        return (d > 0 ? "+ " : d < 0 ? "− " : "") + labelOf(tree, box, tree.graph.title);
      },
      card: (box: Box) => {
        const [a, b] = ab(box);
        const lines = cardOf(tree, box, boxes, unit, wholes[column]!, tree.graph.title).slice(0, box.key < 0 ? 1 : 2);
        const d = differs(box);
        return [...lines, `a ${value(a, unit)} (${percent(a / wholes[0])})`, `b ${value(b, unit)} (${percent(b / wholes[1])})`,
          d === 0 && box.key >= 0 ? "no more than noise" : a === 0 ? "only in b" : b === 0 ? "only in a" : change(b / a - 1)];
      },
      matches: text ? (box: Box) => tree.names.name[tree.fn[box.node]!]!.toLowerCase().includes(text) : null,
    };
  }, [tree, column, inverted, query]);
  if (!tree || !drawing) return null;
  return (
    <section id="flames" aria-labelledby="flames-title">
      <div class="section-head"><h2 id="flames-title">Flame graph of the difference</h2>
        <fieldset class="switch flame-tabs"><legend class="vh">Flame graph</legend>
          {graphs.map((g) => <label key={g.id}><input type="radio" name="flame" value={g.id} checked={g.id === id} onChange={() => setId(g.id)} /><span>{g.title}</span></label>)}
        </fieldset>
      </div>
      <div class="card flame-graph" data-graph={tree.graph.id}>
        <div class="flame-tools">
          <label class="flame-search"><span class="vh">Search functions</span><input type="search" placeholder="Search functions" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} /></label>
          <label>Width <select value={column} onChange={(e) => setColumn(Number((e.currentTarget as HTMLSelectElement).value))}><option value={1}>as in b</option><option value={0}>as in a</option></select></label>
          <label><input type="checkbox" checked={inverted} onChange={() => setInverted(!inverted)} /> inverted</label>
        </div>
        <p class="note">{tree.graph.note} a {value(tree.totals[0]![0]!, "ns")}, b {value(tree.totals[1]![0]!, "ns")}.</p>
        <FlameCanvas drawing={drawing} />
        <ul class="state-key"><li><i class="swatch diff-more" />+ more in b</li><li><i class="swatch diff-less" />− less in b</li><li><i class="swatch diff-same" />no more than noise</li></ul>
      </div>
    </section>
  );
}

start<Data>((data) => <Compare data={data} />);
