import { useEffect, useMemo, useState } from "preact/hooks";
import { duration, percent, rate, count } from "./format";
import { start } from "./start";
import { VirtualRows } from "./rows";

interface Data { dir: string; runs: Run[] | null }
interface Run {
  id: string; state: string; why: string; begun_ms: number; name: string; revision: string; requests: number; rate: number;
  p50_ns: number; p99_ns: number; errors: number; invalid: boolean; failed: boolean; finding: string; findings: number;
}

type Key = "begun_ms" | "rate" | "p50_ns" | "p99_ns" | "errors";
const columns: [Key, string][] = [["rate", "requests/s"], ["p50_ns", "p50"], ["p99_ns", "p99"], ["errors", "errors"]];

// seconds between two looks at the directory, while the page is seen.
const pause = 5;

function Shelf({ data }: { data: Data }) {
  const [runs, setRuns] = useState(data.runs ?? []);
  const [query, setQuery] = useState("");
  const [state, setState] = useState("");
  const [by, setBy] = useState<{ key: Key; up: boolean }>({ key: "begun_ms", up: false });
  const [picked, setPicked] = useState<string[]>([]);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      fetch("runs.json").then((r) => (r.ok ? r.json() : Promise.reject(new Error(r.statusText))))
        .then((all: Run[]) => { setLost(false); setRuns((old) => (JSON.stringify(old) === JSON.stringify(all) ? old : all)); }, () => setLost(true));
    };
    const timer = setInterval(look, pause * 1000);
    return () => clearInterval(timer);
  }, []);
  const narrow = useNarrow();
  const states = useMemo(() => [...new Set(runs.map((r) => r.state))].sort(), [runs]);
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const list = runs.filter((r) => (!state || r.state === state)
      && words.every((w) => `${r.id} ${r.name} ${r.finding} ${r.revision} ${r.state}`.toLowerCase().includes(w)));
    return list.sort((a, b) => (by.up ? 1 : -1) * (a[by.key] - b[by.key]) || (a.id < b.id ? 1 : -1));
  }, [runs, query, state, by]);
  const pick = (id: string) => setPicked((old) => (old.includes(id) ? old.filter((p) => p !== id) : [...old.slice(-1), id]));
  // The earlier of the two is the first: a change is read forward in time.
  const pair = runs.filter((r) => picked.includes(r.id)).sort((a, b) => a.begun_ms - b.begun_ms);
  const head = (key: Key, name: string) => (
    <span role="columnheader" class="num" aria-sort={by.key === key ? (by.up ? "ascending" : "descending") : "none"}>
      <button type="button" class="plain-button" onClick={() => setBy({ key, up: by.key === key ? !by.up : false })}>{name}{by.key === key ? (by.up ? " ▴" : " ▾") : ""}</button>
    </span>
  );
  return (
    <>
      <a class="skip" href="#main">Skip to the runs</a>
      <header class="headline healthy"><div class="inner">
        <p class="brand"><b>redline</b> <span>{data.dir}</span></p>
        <h1>{runs.length === 0 ? "No runs yet" : `${count(runs.length)} ${runs.length === 1 ? "run" : "runs"}`}</h1>
        {runs.length === 0 && <p class="lead">Runs of redline run appear here. This page refreshes every {pause} seconds.</p>}
        {lost && <p class="banner state" role="alert">redline serve does not answer; this list may be out of date.</p>}
      </div></header>
      <main id="main" class="shelf">
        <div class="shelf-tools">
          <label class="flame-search"><span class="vh">Search runs</span><input type="search" placeholder="Search name, finding, revision" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} /></label>
          <label>State <select value={state} onChange={(e) => setState((e.currentTarget as HTMLSelectElement).value)}>
            <option value="">any</option>{states.map((s) => <option key={s} value={s}>{s}</option>)}
          </select></label>
          <span class="note" aria-live="polite">{shown.length !== runs.length && `${count(shown.length)} match`}</span>
          {pair.length === 2
            ? <a class="button" href={`compare?a=${encodeURIComponent(pair[0]!.id)}&b=${encodeURIComponent(pair[1]!.id)}`}>Compare the two</a>
            : <span class="note">{pair.length === 1 ? "Choose one more to compare." : "Choose two to compare."}</span>}
        </div>
        <div class="card shelf-list" role="table" aria-label="Runs" aria-rowcount={shown.length + 1}>
          <div role="row" class="shelf-row head"><span role="columnheader"><span class="vh">choose</span></span>{head("begun_ms", "run")}
            {columns.map(([key, name]) => head(key, name))}<span role="columnheader">what stops it</span></div>
          <VirtualRows count={shown.length} height={narrow ? 132 : 54} most={narrow ? 6 : 14} row={(i) => <Row key={shown[i]!.id} run={shown[i]!} index={i} picked={picked.includes(shown[i]!.id)} onPick={pick} />} />
          {shown.length === 0 && runs.length > 0 && <p class="note">No run matches.</p>}
        </div>
      </main>
    </>
  );
}

// useNarrow follows whether rows are blocks (page.css).
function useNarrow(): boolean {
  const query = useMemo(() => matchMedia("(max-width: 48rem)"), []);
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const tell = () => setNarrow(query.matches);
    query.addEventListener("change", tell);
    return () => query.removeEventListener("change", tell);
  }, [query]);
  return narrow;
}

// given says that somebody chose a bundle's name: others say the time and the scenario again.
const given = (r: Run) => r.begun_ms > 0 && !/^\d{8}-\d{6}/.test(r.id);

function Row({ run: r, index, picked, onPick }: { run: Run; index: number; picked: boolean; onPick: (id: string) => void }) {
  const measured = r.requests > 0;
  const name = given(r) ? r.id : r.name || r.id;
  const about = [r.begun_ms > 0 ? new Date(r.begun_ms).toLocaleString("sv-SE") : name !== r.id && r.id, given(r) && r.name !== r.id && r.name, r.revision && r.revision.slice(0, 10)];
  const readable = r.state !== "damaged" && r.state !== "unreadable";
  return (
    <div role="row" aria-rowindex={index + 2} class={"shelf-row" + (picked ? " picked" : "")}>
      <span role="cell"><input type="checkbox" aria-label={`Compare ${r.id}`} checked={picked} disabled={!readable} onChange={() => onPick(r.id)} /></span>
      <span role="cell" class="shelf-name">
        {readable ? <a href={`run/${encodeURIComponent(r.id)}/`}>{name}</a> : <b>{name}</b>}
        <small title={r.id}>{about.filter(Boolean).join(" · ")}</small>
      </span>
      {measured ? <>
        <span role="cell" class="num">{rate(r.rate)}</span><span role="cell" class="num">{r.p50_ns > 0 ? duration(r.p50_ns) : "–"}</span>
        <span role="cell" class="num">{r.p99_ns > 0 ? duration(r.p99_ns) : "–"}</span><span role="cell" class={"num" + (r.errors > 0 ? " bad" : "")}>{percent(r.errors)}</span>
      </> : columns.map(([key]) => <span role="cell" class="num" key={key}>–</span>)}
      <span role="cell" class="shelf-finding">
        {r.state !== "complete" && <i class={"state-mark " + r.state.replace(" ", "-")} title={r.why}>{r.state}</i>}
        {r.invalid && <i class="state-mark damaged">invalid</i>}{r.failed && <i class="state-mark damaged">threshold failed</i>}
        <span title={r.why || r.finding}>{r.finding || (r.state === "complete" ? (!measured ? "no figures" : r.errors >= 1 ? "every request failed" : "nothing found") : r.why)}</span>
      </span>
    </div>
  );
}

start<Data>((data) => <Shelf data={data} />);
