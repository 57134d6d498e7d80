import { useEffect, useRef, useState } from "preact/hooks";
import { setClock } from "./clock";
import type { Page } from "./data";
import { Figure } from "./figure";
import { count, duration, percent, rate, short } from "./format";
import { LiveCharts, type Live } from "./live-charts";
import { Lines } from "./live-run";
import { Stream, type Ending, type Assessment, type Layout, type Now, type SoFar } from "./live-stream";
import { App } from "./report";
import { start } from "./start";

interface Data { title: string; viewer: string; secret: string }

interface State {
  phase: string; begun: boolean; dir: string; assesses: boolean; layout: Layout[]; messages: string[];
  now: Now | null; soFar: SoFar | null; findings: Assessment | null; end: Ending | null; connected: boolean; since: number;
}

const nothing: State = { phase: "connecting", begun: false, dir: "", assesses: false, layout: [], messages: [], now: null, soFar: null, findings: null, end: null, connected: true, since: 0 };

function LivePage({ data }: { data: Data }) {
  const [state, set] = useState<State>(nothing);
  const [report, setReport] = useState<Page | string | null>(null);
  const live = useRef<Live>({ lines: new Lines(), spans: [], windows: 600, paused: false, listeners: new Set() }).current;
  useEffect(() => {
    let due = false;
    const redraw = () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; for (const draw of live.listeners) draw(); });
    };
    const seen = document.documentElement.dataset;
    const windows = () => { seen.windows = String(live.lines.first + live.lines.length); seen.missed = String(live.lines.missed); redraw(); };
    const ended = (end: Ending | null) => {
      if (!end) return;
      set((s) => ({ ...s, end }));
      if (end.result) location.replace("result?viewer=" + encodeURIComponent(data.viewer));
      if (end.report) fetch("report.json?viewer=" + encodeURIComponent(data.viewer))
        .then((r) => (r.ok ? (r.json() as Promise<Page>) : Promise.reject(new Error(r.statusText))))
        .then(setReport, (why: unknown) => setReport(String(why)));
    };
    const stream = new Stream(data.viewer, {
      all(a) {
        setClock(a.epoch_wall);
        live.lines.reset(a);
        live.spans = a.spans ?? [];
        set((s) => ({ ...s, phase: a.phase || "starting", begun: a.begun, dir: a.dir, assesses: a.assesses, layout: a.charts ?? [], messages: a.messages ?? [],
          now: a.windows.now, soFar: a.windows.so_far, findings: a.findings }));
        windows();
        ended(a.end);
      },
      layout(layout) { live.lines.layout(layout); set((s) => ({ ...s, layout })); },
      spans(spans) { live.spans = spans ?? []; set((s) => ({ ...s, begun: true })); },
      windows(w) { live.lines.add(w); set((s) => ({ ...s, now: w.now, soFar: w.so_far })); windows(); },
      phase(phase) { set((s) => ({ ...s, phase })); },
      message(m) { set((s) => ({ ...s, messages: [...s.messages.slice(-49), m] })); },
      findings(findings) { set((s) => ({ ...s, findings })); },
      end: ended,
      connected(yes) { set((s) => (s.connected === yes ? s : { ...s, connected: yes, since: Date.now() })); },
    });
    stream.start();
    return () => stream.stop();
  }, []);
  useEffect(() => {
    if (report == null || typeof report === "string") return;
    document.title = `${report.run.id} – redline`;
    document.documentElement.dataset.report = "true";
  }, [report]);
  if (report != null && typeof report !== "string") return <App page={report} />;
  return (
    <>
      <a class="skip" href="#main">Skip to the charts</a>
      <Head data={data} state={state} failed={typeof report === "string" ? report : ""} />
      <main id="main" class="shelf">
        <FindingsSoFar state={state} />
        <LiveCharts live={live} layout={state.layout} />
      </main>
      <footer>{state.dir && <>recorded in {state.dir}</>}</footer>
    </>
  );
}

function Head({ data, state, failed }: { data: Data; state: State; failed: string }) {
  const { now, soFar, end } = state;
  const title = end ? { complete: "The run has ended", aborted: "The run was stopped early", failed: "The run did not start" }[end.state]
    : now == null ? "The run is starting" : now.warmup ? "Warming up" : "Measuring";
  const kind = end && end.state !== "complete" ? "invalid" : "healthy";
  return (
    <header class={"headline " + kind}><div class="inner">
      <p class="brand"><b>redline</b> <span>{data.title}</span></p>
      {!state.connected && !end && <Away state={state} />}
      {end && <p class="banner state" role="alert">{end.why ? end.why + ". " : ""}{end.report
        ? failed ? `The report could not be loaded (${failed}); it is in ${end.dir}/report.html.` : "The report is loading."
        : end.result ? "The result is loading." : end.state === "failed" ? "Nothing was measured." : ""}</p>}
      <h1>{title}</h1>
      <div class="live-state" aria-live="polite">
        <span class={"pill" + (state.connected ? "" : " away")}>{end ? "ended" : state.connected ? "live" : "away"}</span>
        <span>{state.phase}</span>
        {now && <><progress max={now.total} value={Math.min(now.done, now.total)} aria-label="Load so far" /><span class="num">{Math.floor(now.done)} of {Math.round(now.total)} s</span></>}
      </div>
      {now && <dl class="figures" aria-label="The last window">
        <Figure name="requests/s" value={rate(now.rate)} note="last window" />
        <Figure name="p50" value={now.max > 0 ? duration(now.p50) : "–"} /><Figure name="p90" value={now.max > 0 ? duration(now.p90) : "–"} />
        <Figure name="p99" value={now.max > 0 ? duration(now.p99) : "–"} /><Figure name="max" value={now.max > 0 ? duration(now.max) : "–"} />
        <Figure name="in flight" value={count(now.in_flight)} />
        <Figure name="generator lag p99" value={duration(now.lag_p99)} />
        {now.generator_cpu != null && <Figure name="generator CPUs" value={short(now.generator_cpu)} />}
      </dl>}
      {soFar && soFar.requests > 0 && <dl class="figures so-far-figures" aria-label="The measured span so far">
        <Figure name="requests/s" value={rate(soFar.rate)} note={`so far, in ${Math.floor(soFar.seconds)} s`} />
        {(["p50", "p95", "p99", "max"] as const).map((key) => <Figure key={key} name={key} value={soFar.latency_ns.max > 0 ? duration(soFar.latency_ns[key]) : "–"} />)}
        <Figure name="requests" value={count(soFar.requests)} />
        <Figure name="errors" value={percent(soFar.errors / soFar.requests)} bad={soFar.errors > 0} />
      </dl>}
      {!end && <Actions data={data} state={state} />}
      {state.messages.length > 0 && <ul class="plain note">{state.messages.slice(-5).map((m, i) => <li key={i}>{m}</li>)}</ul>}
    </div></header>
  );
}

// Away says plainly that nothing comes, and what to do when nothing will.
function Away({ state }: { state: State }) {
  const [, tick] = useState(0);
  useEffect(() => { const t = setInterval(() => tick((n) => n + 1), 1000); return () => clearInterval(t); }, []);
  const away = Math.max(0, Math.round((Date.now() - state.since) / 1000));
  return (
    <p class="banner" role="alert">
      <b>redline does not answer</b>, for {away} s now. This page retries every second, and then shows everything that it missed. The figures below are the last ones received.
      {away > 5 && (state.dir ? <> If the run has ended, its report is <code>{state.dir}/report.html</code>; if redline was killed, <code>redline diagnose {state.dir}</code> assesses what it recorded.</> : <> If redline has ended, its terminal shows why.</>)}
    </p>
  );
}

function Actions({ data, state }: { data: Data; state: State }) {
  const [asked, ask] = useState(false);
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState("");
  const post = (what: string, body: string, done: string) => fetch(what, { method: "POST", body, headers: { "X-Redline-Secret": data.secret } })
    .then(async (r) => setAnswer(r.ok ? done : await r.text()), (why: unknown) => setAnswer(String(why)));
  return (
    <div class="live-actions">
      {state.begun && <form onSubmit={(e) => { e.preventDefault(); void post("mark", text, "Marked."); setText(""); }}>
        <label class="vh" for="mark-text">What happens at this moment</label>
        <input id="mark-text" maxLength={200} placeholder="what happens (optional)" value={text} onInput={(e) => setText(e.currentTarget.value)} />
        <button type="submit">Mark this moment</button>
      </form>}
      {asked
        ? <><span>End the load now and keep the measurements so far?</span><button type="button" class="danger" onClick={() => { ask(false); void post("stop", "", "Stopping."); }}>Stop and keep</button><button type="button" onClick={() => ask(false)}>Continue the run</button></>
        : <button type="button" onClick={() => ask(true)}>Stop early</button>}
      <span class="note" role="status">{answer}</span>
    </div>
  );
}

function FindingsSoFar({ state }: { state: State }) {
  const f = state.findings;
  if (!state.assesses) return null;
  const findings = f?.findings ?? [];
  return (
    <section id="findings" aria-labelledby="findings-title" class="so-far">
      <h2 id="findings-title">Findings so far</h2>
      {!f || f.seconds === 0 ? <p class="note">{f?.skipped || "The first assessment follows a few seconds into the measured span."}</p> : <>
        <p class="note">Based on the first {Math.floor(f.seconds)} s of the measured span; more data may change them.{f.skipped && ` ${f.skipped}; this is the previous assessment.`}</p>
        {findings.length === 0 && <p>{f.title} {f.lead}</p>}
        <ol class="findings">{findings.slice(0, 3).map((x, i) => (
          <li class="card finding" key={x.cause + i}>
            <div class="finding-head"><span class="rank" aria-hidden="true">{i + 1}</span><h3>{x.title}</h3><i class="state-mark">so far</i></div>
            <p>{f.weights?.[i]}</p>
            {f.places?.[i] && <p class="place"><code>{f.places[i]}</code></p>}
          </li>
        ))}</ol>
        {findings.length > 3 && <p class="note">{findings.length - 3} more with less impact.</p>}
      </>}
    </section>
  );
}

start<Data>((data) => <LivePage data={data} />);
