import { useMemo, useState } from "preact/hooks";
import { NamedBands } from "./anatomy";
import type { Page, Quantiles, RecordedRequest } from "./data";
import { Downloads } from "./export";
import { atLeast, count, duration, percent, rate } from "./format";
import type { Latencies } from "./latencies";
import { VirtualRows } from "./rows";
import { seconds, spanText, useSelection, type Span } from "./selection";
import { SpectrumChart } from "./spectrum";

// Row is one request of the mix over the run or over the selection.
interface Row { name: string; step: number; requests: number; errors: number; rate: number; latency: Quantiles }

type Key = "name" | "requests" | "rate" | "errors" | "mean" | keyof Pick<Quantiles, "p50" | "p90" | "p95" | "p99" | "p99_9" | "max">;

const columns: { key: Key; name: string; percentile?: number }[] = [
  { key: "requests", name: "requests" }, { key: "rate", name: "per second" }, { key: "errors", name: "errors" }, { key: "mean", name: "mean", percentile: 100 },
  { key: "p50", name: "50 %", percentile: 50 }, { key: "p90", name: "90 %", percentile: 90 }, { key: "p95", name: "95 %", percentile: 95 },
  { key: "p99", name: "99 %", percentile: 99 }, { key: "p99_9", name: "99.9 %", percentile: 99.9 }, { key: "max", name: "max", percentile: 100 },
];

function figure(row: Row, key: Key): number | string {
  switch (key) {
    case "name": return row.name;
    case "requests": return row.requests;
    case "rate": return row.rate;
    case "errors": return row.requests > 0 ? row.errors / row.requests : 0;
  }
  return row.latency[key];
}

function text(row: Row, key: Key, percentile: number | undefined): string {
  switch (key) {
    case "requests": return count(row.requests);
    case "rate": return rate(row.rate);
    case "errors": return row.requests > 0 ? percent(row.errors / row.requests) : "–";
  }
  const ns = figure(row, key) as number;
  return row.requests > row.errors || ns > 0 ? atLeast(ns, row.latency, percentile!) : "–";
}

// rowsOf returns the requests of the mix. Without a selection the figures are the summary's.
function rowsOf(page: Page, latencies: Latencies | null, span: Span | null): Row[] {
  const steps = page.summary.load.steps ?? [];
  const covered = span && latencies?.covered(span);
  return steps.map((s): Row => {
    const step = latencies?.steps.indexOf(s.name) ?? -1;
    if (!span) return { name: s.name, step, requests: s.requests, errors: s.errors, rate: (s.requests - s.errors) / (page.summary.load.duration_ns / 1e9 || 1), latency: s.latency_ns };
    const none = { min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p99_9: 0, max: 0 };
    if (step < 0 || !covered) return { name: s.name, step, requests: 0, errors: 0, rate: 0, latency: none };
    const ended = latencies!.counts("latency", span, step);
    const errors = latencies!.counts("error", span, step).total;
    return { name: s.name, step, requests: ended.total + errors, errors, rate: ended.total / (covered.to - covered.from), latency: ended.quantiles() };
  });
}

// Requests shows the requests of a mix, a row each: only the rows in sight are made, so that
// 10,000 of them are as quick as ten.
export function Requests({ page, latencies }: { page: Page; latencies: Latencies | null }) {
  const span = useSelection();
  const [query, setQuery] = useState("");
  const [by, setBy] = useState<{ key: Key; down: boolean }>({ key: "requests", down: true });
  const [hidden, setHidden] = useState<Key[]>(["mean", "p95"]);
  const [open, setOpen] = useState("");
  const rows = useMemo(() => rowsOf(page, latencies, span), [page, latencies, span]);
  const shown = useMemo(() => {
    const words = query.trim().toLowerCase();
    const found = rows.filter((r) => r.name.toLowerCase().includes(words));
    return found.sort((a, b) => {
      const [x, y] = [figure(a, by.key), figure(b, by.key)];
      const order = typeof x === "string" ? x.localeCompare(y as string) : x - (y as number);
      return by.down ? -order : order;
    });
  }, [rows, query, by]);
  if (rows.length === 0) return null;
  const chosen = columns.filter((c) => !hidden.includes(c.key));
  const template = { gridTemplateColumns: `minmax(10rem, 1fr) repeat(${chosen.length}, 5.4rem)`, minWidth: `${12 + 6 * chosen.length}rem` };
  const head = (key: Key, name: string) => (
    <span role="columnheader" key={key} class={key === "name" ? "" : "num"} aria-sort={by.key !== key ? "none" : by.down ? "descending" : "ascending"}>
      <button type="button" class="plain-button" onClick={() => setBy({ key, down: by.key === key ? !by.down : key !== "name" })}>{name}{by.key === key ? (by.down ? " ▾" : " ▴") : ""}</button>
    </span>
  );
  const detail = rows.find((r) => r.name === open);
  return (
    <section id="requests" aria-labelledby="requests-title">
      <div class="section-head">
        <h2 id="requests-title">Requests of the mix</h2>
        <p class="key">{span && latencies && <Covered latencies={latencies} span={span} />}
          <Downloads name="requests" what="Requests of the mix" table={() => ({
            columns: ["request", "requests", "errors", "rate_per_s", ...columns.slice(3).map((c) => c.key + "_ns")],
            rows: shown.map((r) => [r.name, r.requests, r.errors, r.rate, ...columns.slice(3).map((c) => figure(r, c.key))]),
          })} /></p>
      </div>
      <div class="card">
        <div class="flame-tools">
          <label class="request-search"><span class="vh">Search requests</span><input type="search" placeholder="Search requests" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} /></label>
          <span class="note" aria-live="polite">{shown.length === rows.length ? count(rows.length) : `${count(shown.length)} of ${count(rows.length)}`} requests</span>
          <details class="columns">
            <summary>Columns</summary>
            {columns.map((c) => <label key={c.key}><input type="checkbox" checked={!hidden.includes(c.key)} onChange={() => setHidden(hidden.includes(c.key) ? hidden.filter((k) => k !== c.key) : [...hidden, c.key])} /> {c.name}</label>)}
          </details>
        </div>
        <div role="table" aria-label="Requests of the mix" aria-rowcount={shown.length + 1} class="scroll">
          <div role="row" class="request-row head" style={template}>{head("name", "request")}{chosen.map((c) => head(c.key, c.name))}</div>
          <VirtualRows count={shown.length} height={30} most={14} row={(i) => {
            const r = shown[i]!;
            return (
              <div role="row" aria-rowindex={i + 2} key={r.name} class={"request-row" + (r.name === open ? " picked" : "")} style={template}>
                <span role="cell"><button type="button" class="plain-button" aria-expanded={r.name === open} title={r.name} onClick={() => setOpen(r.name === open ? "" : r.name)}>{r.name}</button></span>
                {chosen.map((c) => <span role="cell" key={c.key} class={"num" + (c.key === "errors" && r.errors > 0 ? " bad" : "")}>{text(r, c.key, c.percentile)}</span>)}
              </div>
            );
          }} />
        </div>
        {shown.length === 0 && <p class="note">No request matches.</p>}
      </div>
      {detail && <Detail row={detail} page={page} latencies={latencies} span={span} />}
    </section>
  );
}

// Detail is one request: its percentiles, its spectrum, and its slow ones taken apart.
function Detail({ row, page, latencies, span }: { row: Row; page: Page; latencies: Latencies | null; span: Span | null }) {
  const curves = useMemo(() => {
    if (!latencies || row.step < 0) return [];
    return [{ name: row.name, ...latencies.counts("latency", span, row.step).spectrum() }].filter((c) => c.tail.length > 0);
  }, [row, latencies, span]);
  const stories = (page.slowest ?? []).filter((s) => s.name === row.name);
  const slow = (page.slow ?? []).filter((s) => s.request === row.name && during(s, span));
  return (
    <div class="pair request-detail">
      <div class="card">
        <h3>{row.name}</h3>
        <table><tbody>{columns.map((c) => <tr key={c.key}><th scope="row">{c.name}</th><td class="num">{text(row, c.key, c.percentile)}</td></tr>)}</tbody></table>
        <h4>Where its time goes</h4>
        <NamedBands anatomy={page.anatomy} name={row.name} />
        {stories.length > 0
          ? <ul class="plain">{stories.map((s, i) => <li key={i}><b>{duration(s.took_ns)}</b> {s.lead}</li>)}</ul>
          : !page.anatomy?.named?.some((n) => n.name === row.name) && <p class="note">{why(page)}</p>}
        {slow.length > 0 && <><h4>Its slowest, seen by the generator</h4><ul class="plain">{slow.slice(0, 5).map((s, i) => <li key={i}><b>{duration(s.done_ns - s.intended_ns)}</b> due at {seconds(s.intended_ns / 1e9)}{s.error ? `, ${s.error}` : ""}</li>)}</ul></>}
      </div>
      {curves.length > 0 ? <SpectrumChart curves={curves} id="request-spectrum" /> : <p class="note">The record does not keep its latency separately.</p>}
    </div>
  );
}

// why says why a request has no bars.
function why({ anatomy }: Page): string {
  if (!anatomy) return "No execution trace was taken.";
  if (!anatomy.named && anatomy.requests < 100) return `The execution traces hold only ${count(anatomy.requests)} whole ${anatomy.requests === 1 ? "request" : "requests"}, and none that is marked with its name.`;
  if (!anatomy.named) return "The target marks no requests, so its traces cannot be divided by request name. A net/http service built with --build marks them; request.Handler of package probe/request does elsewhere.";
  return "The execution traces contain no marked request of this name, or 24 others took more time.";
}

export function during(s: Pick<RecordedRequest, "intended_ns" | "done_ns">, span: Span | null): boolean {
  return !span || (s.done_ns / 1e9 >= span.from && s.intended_ns / 1e9 < span.to);
}

// Covered says what the figures of a selection are of.
export function Covered({ latencies, span }: { latencies: Latencies; span: Span }) {
  const covered = latencies.covered(span);
  return <span class="covers">{covered ? `requests that ended from ${spanText(covered)}` : "no request ended in the selection"}</span>;
}
