import { useMemo, useState } from "preact/hooks";
import type { Anatomy, Chain, CPUProfile, During, Page, Part, Piece } from "./data";
import { Downloads } from "./export";
import { count, duration, percent, short, shortFile } from "./format";
import { covering, spanText, useSelection, type Span } from "./selection";
import { Slowest } from "./slowest";
import { Code } from "./name";
import { num, useOrder } from "./order";
import { stateClass } from "./theme";

export function AnatomySection({ page }: { page: Page }) {
  const [normal, setNormal] = useState(false);
  const span = useSelection();
  const whole = page.anatomy;
  const part = useMemo(() => (whole && span ? within(whole, span) : null), [whole, span]);
  if (!whole) return null;
  const a = part?.anatomy ?? whole;
  const bands: [string, string, Part[], number][] = [
    ["Median request", "p40 to p60", a.median, a.median_ns],
    ["Tail", "p99 and above", a.tail, a.tail_ns],
    ["Mean of all", "", a.all, a.mean_ns],
  ];
  const longest = Math.max(1, ...bands.map((b) => b[3]));
  return (
    <section id="anatomy" aria-labelledby="anatomy-title">
      <div class="section-head">
        <h2 id="anatomy-title">Where a request's time goes</h2>
        <fieldset class="switch">
          <legend class="vh">Scale of the bars</legend>
          <label><input type="radio" name="scale" checked={!normal} onChange={() => setNormal(false)} /><span>one time scale</span></label>
          <label><input type="radio" name="scale" checked={normal} onChange={() => setNormal(true)} /><span>each 100 %</span></label>
        </fieldset>
      </div>
      <div class="card">
        {part ? <p class="covers">{coverage(part)}</p> : (
          <>
            <p class="note">
              {count(a.requests)} requests taken apart from {duration(a.traced_ns)} of execution trace; {count(a.cut)} cut by its edges, {count(a.merged)} merged,
              coverage {percent(a.coverage)}.{(a.served?.length ?? 0) > 1 && " Served by " + a.served!.map((s) => `${s.server}: ${count(s.requests)}`).join(", ") + "."}
            </p>
            {span && <Traces page={page} />}
          </>
        )}
        <div class="bands">
          {bands.filter((b) => b[2].length > 0).map(([name, note, parts, ns]) => (
            <Band key={name} name={name} note={note} parts={parts} ns={ns} width={normal ? 1 : ns / longest} />
          ))}
        </div>
        <StateKey parts={[...a.median, ...a.tail, ...a.all]} />
        {a.warnings.length > 0 && <ul class="plain note">{a.warnings.map((w, i) => <li key={i}>{w}</li>)}</ul>}
      </div>
      <PartTable anatomy={a} bands={bands} />
      {a.cpu && <ProfileTable cpu={a.cpu} undivided={span !== null} />}
      <Slowest requests={page.slowest ?? []} timelines={a.slowest.filter((t) => !span || (t.to_ns / 1e9 >= span.from && t.from_ns / 1e9 < span.to))} of={a.slowest.length} />
    </section>
  );
}

interface Selected { anatomy: Anatomy; traces: Span[]; requests: number }

// within is the anatomy of the traces that a selection holds: the means of their bands, each by its requests. What
// waits waited for is not divided. Null where no trace with requests is in the selection, or the record does not divide
// them.
function within(a: Anatomy, span: Span): Selected | null {
  const all = (a.during ?? []).map((d) => ({ ...d, from: d.from_ns / 1e9, to: d.to_ns / 1e9 }));
  const chosen = covering(all, span).map((i) => all[i]!).filter((d) => d.requests > 0);
  if (chosen.length === 0) return null;
  const requests = chosen.reduce((sum, d) => sum + d.requests, 0);
  const mean = (of: (d: During) => number) => Math.round(chosen.reduce((sum, d) => sum + of(d) * d.requests, 0) / requests);
  const parts = (of: (d: During) => Piece[], whole: number): Part[] => {
    const found = new Map<number, Part>();
    for (const d of chosen) {
      for (const p of of(d)) {
        const { state, site, stack } = a.all[p.part]!;
        const part = found.get(p.part) ?? { state, site, stack, ns: 0, share: 0, times: 0 };
        part.ns += (p.ns * d.requests) / requests;
        part.times += (p.times * d.requests) / requests;
        part.share = part.ns / (whole || 1);
        found.set(p.part, part);
      }
    }
    return [...found.values()].sort((x, y) => y.ns - x.ns);
  };
  const [mean_ns, median_ns, tail_ns] = [mean((d) => d.mean_ns), mean((d) => d.median_ns), mean((d) => d.tail_ns)];
  return {
    traces: chosen, requests,
    anatomy: { ...a, mean_ns, median_ns, tail_ns, all: parts((d) => d.all, mean_ns), median: parts((d) => d.median, median_ns), tail: parts((d) => d.tail, tail_ns) },
  };
}

function coverage({ traces, requests }: Selected): string {
  const several = traces.length > 1;
  return `${count(requests)} requests of the ${several ? "traces" : "trace"} of ${traces.map(spanText).join("; ")}${several ? ", each trace's median and tail by its requests" : ""}. `
    + "The goroutines that requests waited for are not divided by time.";
}

// Traces says that the bars do not follow a selection, and why.
function Traces({ page }: { page: Page }) {
  const span = useSelection();
  if (!span) return null;
  const traces = (page.spans ?? []).filter((s) => s.kind === "trace");
  const met = traces.filter((t) => t.to > span.from && t.from < span.to);
  return (
    <p class="covers">
      {met.length === 0 ? "The selection contains no execution trace: the bars cover" : traces.length > 1 ? "The record does not divide its traces: the bars cover all of them," : "The bars cover the run's only trace,"}{" "}
      {traces.map(spanText).join("; ") || "at an unknown time"}. The slowest requests below follow the selection.
    </p>
  );
}

// NamedBands are the bars of one request of a mix, on one time scale. Of few requests the tail is the slowest one, and
// there is no median band to speak of.
export function NamedBands({ anatomy, name }: { anatomy: Anatomy | null; name: string }) {
  const of = anatomy?.named?.find((n) => n.name === name);
  if (!anatomy || !of) return null;
  const parts = (pieces: Piece[], ns: number): Part[] => {
    const found = pieces.map((p): Part => ({ ...anatomy.all[p.part]!, ns: p.ns, times: p.times, share: p.ns / (ns || 1) }));
    const rest = ns - found.reduce((sum, p) => sum + p.ns, 0);
    return rest > 0 ? [...found, { state: "other", site: "(smaller parts)", ns: rest, times: 0, share: rest / (ns || 1) }] : found;
  };
  const bands: [string, string, Part[], number][] = of.requests < few
    ? [["Mean", "", parts(of.all, of.mean_ns), of.mean_ns], ["Slowest", "", parts(of.tail, of.tail_ns), of.tail_ns]]
    : [["Median request", "p40 to p60", parts(of.median, of.median_ns), of.median_ns], ["Tail", "p99 and above", parts(of.tail, of.tail_ns), of.tail_ns], ["Mean", "", parts(of.all, of.mean_ns), of.mean_ns]];
  const longest = Math.max(1, ...bands.map((b) => b[3]));
  const largest = parts(of.tail, of.tail_ns).slice(0, 5);
  return (
    <div class="named">
      <p class="note">{count(of.requests)} marked requests, chosen by chance, in the execution traces of the run.</p>
      <div class="bands">{bands.map(([band, note, all, ns]) => <Band key={band} name={band} note={note} parts={all} ns={ns} width={ns / longest} />)}</div>
      <StateKey parts={bands.flatMap((b) => b[2])} />
      <table><thead><tr><th scope="col">{of.requests < few ? "in the slowest" : "in the tail"}</th><th scope="col" class="num">time</th><th scope="col" class="num">share</th></tr></thead>
        <tbody>{largest.map((p, i) => <tr key={i}><td><i class={"swatch " + stateClass(p.state)} />{p.state}{p.site && <> <Code text={p.site} /></>}</td><td class="num">{duration(p.ns)}</td><td class="num">{percent(p.share)}</td></tr>)}</tbody></table>
    </div>
  );
}

// few is how many requests it takes for one in a hundred to be a tail.
const few = 100;

// thin is the share below which a part is drawn with the rest of its band.
const thin = 0.004;

function Band({ name, note, parts, ns, width }: { name: string; note: string; parts: Part[]; ns: number; width: number }) {
  const total = parts.reduce((sum, p) => sum + p.ns, 0) || 1;
  // By state first, so that the two bars can be compared by eye.
  const shown = parts.filter((p) => p.ns / total >= thin).sort((x, y) => order(x.state) - order(y.state) || y.ns - x.ns);
  const rest = total - shown.reduce((sum, p) => sum + p.ns, 0);
  const described = parts.slice(0, 5).map((p) => `${p.state}${p.site ? " at " + p.site : ""} ${percent(p.ns / total)}`).join(", ");
  return (
    <div class="band">
      <div class="band-name"><b>{name}</b> <span>{note}</span> <em>{duration(ns)}</em></div>
      <div class="bar" role="img" aria-label={`${name}, ${duration(ns)}: ${described}`} style={{ width: `${Math.max(width * 100, 1)}%` }}>
        {shown.map((p, i) => (
          <i key={i} class={stateClass(p.state)} style={{ width: `${(p.ns / total) * 100}%` }} data-tip={tip(p, p.ns / total)}>
            {p.ns / total > 0.04 && <span><b>{p.state}</b> <b>{percent(p.ns / total)}</b></span>}
          </i>
        ))}
        {rest > 0 && <i class="state-other" style={{ width: `${(rest / total) * 100}%` }} data-tip={`the rest\n${duration(rest)}`} />}
      </div>
    </div>
  );
}

function tip(p: Part, share: number): string {
  return `${p.state}${p.site ? "\n" + p.site : ""}\n${duration(p.ns)}, ${percent(share)}`;
}

const stateOrder = [
  "running", "syscall", "runnable", "gc-assist", "stop-the-world", "stopped-by-call", "lock", "sync", "channel", "select", "sleep",
  "network", "other",
];
const order = (state: string) => (stateOrder.indexOf(state) + stateOrder.length + 1) % (stateOrder.length + 1);

const meaning: Record<string, string> = {
  running: "on a CPU", runnable: "ready, waiting for a P", "gc-assist": "helping the collector", "stop-the-world": "stopped by the collector",
  "stopped-by-call": "stopped with all others, by a call of the program",
  lock: "waiting for a mutex", sync: "Cond, WaitGroup, Once", channel: "send or receive", select: "select", sleep: "time.Sleep",
  network: "waiting for the network", syscall: "long system call", other: "other",
};

function StateKey({ parts }: { parts: { state: string }[] }) {
  const states = [...new Set(parts.map((p) => p.state))].sort((a, b) => order(a) - order(b));
  return (
    <ul class="state-key" aria-label="States">
      {states.map((s) => <li key={s} title={meaning[s]}><i class={"swatch " + stateClass(s)} />{s}</li>)}
    </ul>
  );
}

interface Row { state: string; site: string; median: number; tail: number; times: number; part: Part }

// rows joins the two bands by state and site, what the tail has more of first.
function rows(a: Anatomy): Row[] {
  const found = new Map<string, Row>();
  const add = (p: Part, band: "median" | "tail") => {
    const key = p.state + "\n" + p.site;
    const row = found.get(key) ?? { state: p.state, site: p.site, median: 0, tail: 0, times: 0, part: p };
    row[band] += p.ns;
    if (band === "tail") row.times = p.times;
    if (p.stack) row.part = p;
    found.set(key, row);
  };
  for (const p of a.median) add(p, "median");
  for (const p of a.tail) add(p, "tail");
  return [...found.values()].sort((x, y) => Math.abs(y.tail - y.median) - Math.abs(x.tail - x.median));
}

function PartTable({ anatomy, bands }: { anatomy: Anatomy; bands: [string, string, Part[], number][] }) {
  const [all, setAll] = useState(false);
  const joined = useMemo(() => rows(anatomy), [anatomy]);
  const { ordered, head } = useOrder(joined, {
    state: (r) => r.state, site: (r) => r.site, median: (r) => r.median, tail: (r) => r.tail, delta: (r) => r.tail - r.median, times: (r) => r.times,
  });
  const shown = all ? ordered : ordered.slice(0, 8);
  const most = Math.max(1, ...joined.map((r) => Math.abs(r.tail - r.median)));
  if (joined.length === 0) return null;
  return (
    <div class="card">
      <div class="section-head"><h3>Where slow requests differ from ordinary ones</h3>
        <Downloads name="anatomy" what="The anatomy of requests" table={() => ({
          columns: ["band", "state", "site", "ns", "share", "times"], rows: bands.flatMap(([name, , parts]) => parts.map((p) => [name, p.state, p.site, p.ns, p.share, p.times])),
        })} /></div>
      <div class="scroll">
        <table class="parts blocks">
          <thead>
            <tr>
              {head("state", "state")}{head("site", "where")}{head("median", "median", num)}{head("tail", "tail", num)}
              {head("delta", "tail − median", num)}{head("times", "times", { class: "num", title: "times per tail request" })}
            </tr>
          </thead>
          <tbody>
            {shown.map((r) => (
              <tr key={r.state + r.site}>
                <td class="nowrap"><i class={"swatch " + stateClass(r.state)} />{r.state}</td>
                <td class={"site " + (r.site ? "own" : "empty")}>
                  {r.part.stack
                    ? <details><summary><Code text={r.site || "–"} /></summary><ol class="stack">{r.part.stack.map((f, i) => <li key={i}><Code text={f.function} /> <span title={f.file}>{shortFile(f.file, f.line)}</span></li>)}</ol></details>
                    : <Code text={r.site || "–"} />}
                  {r.part.behind && <Behind chains={r.part.behind} whole={r.part.ns} />}
                </td>
                <td class="num" data-label="median">{duration(r.median)}</td>
                <td class="num" data-label="tail">{duration(r.tail)}</td>
                <td class="num delta" data-label="difference">
                  <i aria-hidden="true" class={r.tail >= r.median ? "more" : "less"} style={{ width: `${(Math.abs(r.tail - r.median) / most) * 100}%` }} />
                  <span>{r.tail >= r.median ? "+" : ""}{duration(r.tail - r.median)}</span>
                </td>
                <td class="num" data-label={r.times > 0 ? "times" : null}>{r.times > 0 ? short(r.times) : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {joined.length > 8 && <button type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${joined.length}`}</button>}
    </div>
  );
}

// Behind tells what most of a part's waits waited for: the goroutines that ended
// them, and what those did meanwhile.
function Behind({ chains, whole }: { chains: Chain[]; whole: number }) {
  return (
    <ul class="plain note">
      {chains.slice(0, 3).map((c, i) => (
        <li key={i}>{percent(c.ns / whole)} of it for {c.links.map((l, j) => (
          <span key={j}>{j > 0 && ", which waited for "}{l.request && "another request's "}<Code text={l.goroutine || "a goroutine"} />: {l.state}{l.site && <> at <Code text={l.site} /></>}</span>
        ))}</li>
      ))}
    </ul>
  );
}

function ProfileTable({ cpu, undivided }: { cpu: CPUProfile; undivided: boolean }) {
  const run = useMemo(() => cpu.functions.filter((f) => f.median > 0 || f.tail > 0).slice(0, 10), [cpu]);
  const { ordered, head } = useOrder(run, { function: (f) => f.function, caller: (f) => f.caller, median: (f) => f.median, tail: (f) => f.tail });
  return (
    <div class="card">
      <h3>What slow requests run</h3>
      <p class="note">CPU samples of the requests' own goroutines: {count(cpu.tail)} in the tail, {count(cpu.median)} in the median band.{undivided && <b class="covers"> Of all traces: their samples are not divided by time.</b>}</p>
      <div class="scroll">
        <table class="blocks">
          <thead><tr>{head("function", "function")}{head("caller", "called from")}{head("median", "median", num)}{head("tail", "tail", num)}</tr></thead>
          <tbody>
            {ordered.map((f) => (
              <tr key={f.function + f.caller}><td class="own"><Code text={f.function} /></td><td class="own" data-label="from"><Code text={f.caller || "–"} /></td><td class="num" data-label="median">{percent(f.median)}</td><td class="num" data-label="tail">{percent(f.tail)}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
