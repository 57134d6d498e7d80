import { useMemo, useState } from "preact/hooks";
import type { Activity, RecordedRequest, Statements, Values } from "./data";
import { timeOfDay } from "./clock";
import { Downloads } from "./export";
import { count, duration, short } from "./format";
import { num, useOrder } from "./order";
import { during } from "./requests";
import { spanText, useSelection, type Span } from "./selection";

export function SlowRequests({ slow: every }: { slow: RecordedRequest[] }) {
  const [all, setAll] = useState(false);
  const span = useSelection();
  const slow = useMemo(() => every.filter((s) => during(s, span)), [every, span]);
  const { ordered, head } = useOrder(slow, {
    due: (s) => -s.intended_ns, request: (s) => s.request, wait: (s) => phases(s).wait, first: (s) => phases(s).first, body: (s) => phases(s).body,
    latency: (s) => s.done_ns - s.intended_ns, result: (s) => s.error || String(s.status),
  });
  if (every.length === 0) return null;
  const shown = all ? ordered : ordered.slice(0, 10);
  const longest = Math.max(1, ...slow.map((s) => s.done_ns - s.intended_ns));
  return (
    <section id="slow" aria-labelledby="slow-title">
      <div class="section-head"><h2 id="slow-title">The slowest requests, seen by the generator</h2>
        <p class="key">{span && <span class="covers">{slow.length} of {every.length} were in progress from {spanText(span)}</span>}
          <Downloads name="slow-requests" what="The slowest requests" table={() => ({
            columns: ["request", "connection", "intended_ns", "sent_ns", "first_byte_ns", "done_ns", "latency_ns", "status", "error"],
            rows: slow.map((s) => [s.request, s.connection, s.intended_ns, s.sent_ns, s.first_byte_ns, s.done_ns, s.done_ns - s.intended_ns, s.status, s.error]),
          })} /></p></div>
      <div class="card">
        <div class="scroll">
          <table class="slow blocks">
            <thead>
              <tr>
                {head("due", "due at")}{head("request", "request")}{head("wait", "before sending", num, <i class="swatch slow-wait" />)}
                {head("first", "to first byte", num, <i class="swatch slow-first" />)}{head("body", "to the end", num, <i class="swatch slow-body" />)}{head("latency", "latency", num)}<th scope="col"><span class="vh">shares</span></th>{head("result", "result")}
              </tr>
            </thead>
            <tbody>{shown.map((s, i) => <SlowRow key={i} slow={s} longest={longest} />)}</tbody>
          </table>
        </div>
        {slow.length === 0 && <p class="note">None of the run's slowest requests was in progress then.</p>}
        {slow.length > 10 && <button type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${slow.length}`}</button>}
      </div>
    </section>
  );
}

// phases are the parts of a request's latency.
function phases(s: RecordedRequest): { wait: number; first: number; body: number } {
  // A request that failed early has no first byte, and perhaps was never sent.
  const sent = s.sent_ns > 0 ? s.sent_ns : s.done_ns;
  const first = s.first_byte_ns > 0 ? s.first_byte_ns : s.done_ns;
  return { wait: sent - s.intended_ns, first: first - sent, body: s.done_ns - first };
}

function SlowRow({ slow: s, longest }: { slow: RecordedRequest; longest: number }) {
  const spent = phases(s);
  const parts: [string, string, number][] = [["wait", "before sending", spent.wait], ["first", "to first byte", spent.first], ["body", "to the end", spent.body]];
  const total = s.done_ns - s.intended_ns;
  return (
    <tr>
      <td class="nowrap" data-label="due at" title={timeOfDay(s.intended_ns / 1e9, 3)}>{(s.intended_ns / 1e9).toFixed(3)} s</td>
      <td>{s.request} <small>connection {s.connection}</small></td>
      {parts.map(([key, name, ns]) => <td class="num" key={key} data-label={name}>{duration(ns)}</td>)}
      <td class="num" data-label="latency"><b>{duration(total)}</b></td>
      <td class="mini own"><span class="bar" aria-hidden="true" style={{ width: `${(total / longest) * 100}%` }}>{parts.map(([key, name, ns]) => <i key={key} class={"slow-" + key} style={{ width: `${(ns / Math.max(total, 1)) * 100}%` }} data-tip={`${name}\n${duration(ns)}`} />)}</span></td>
      <td class={s.error ? "bad" : ""} data-label="result">{s.error ? `${s.error}${s.status ? ` (${s.status})` : ""}` : s.status || "–"}</td>
    </tr>
  );
}

interface Work { calls: number; time: number; rows: number }

// workDuring adds up what a statement did in a span; null where nobody counted then.
function workDuring(a: Activity, statement: number, span: Span): Work | null {
  const sum = (v: Values | undefined): number | null => {
    let total: number | null = null;
    v?.forEach((x, i) => {
      const middle = a.from + (i + 0.5) * a.step;
      if (x != null && middle >= span.from && middle < span.to) total = (total ?? 0) + x;
    });
    return total;
  };
  const [calls, time, rows] = [sum(a.calls[statement]), sum(a.time_ns[statement]), sum(a.rows[statement])];
  return calls == null && time == null ? null : { calls: calls ?? 0, time: time ?? 0, rows: rows ?? 0 };
}

export function StatementsSection({ statements, activity }: { statements: Statements | null; activity: Activity | null }) {
  const span = useSelection();
  const all = useMemo(() => {
    const divided = span && activity;
    const found = (statements?.statements ?? []).map((s, i) => {
      if (!divided) return { ...s, known: true };
      const work = workDuring(activity, i, span);
      return { ...s, known: work != null, calls: work?.calls ?? 0, time_ns: work?.time ?? 0, rows: work?.rows ?? 0 };
    });
    return divided ? found.sort((a, b) => b.time_ns - a.time_ns) : found;
  }, [statements, activity, span]);
  const { ordered, head } = useOrder(all, {
    text: (s) => s.text, calls: (s) => s.calls, time: (s) => s.time_ns, mean: (s) => (s.calls > 0 ? s.time_ns / s.calls : 0), rows: (s) => (s.calls > 0 ? s.rows / s.calls : 0),
  });
  if (all.length === 0) return null;
  return (
    <section id="statements" aria-labelledby="statements-title">
      <div class="section-head"><h2 id="statements-title">SQL statements</h2>
        <p class="key">{span && <span class="covers">{activity ? `from ${spanText(span)}, in steps of ${+activity.step.toFixed(2)} s` : "of the whole run: the record does not count statements by time"}</span>}
          <Downloads name="statements" what="SQL statements" table={() => ({ columns: ["queryid", "calls", "time_ns", "rows", "statement"], rows: all.map((s) => [s.queryid, ...(s.known ? [s.calls, s.time_ns, s.rows] : [null, null, null]), s.text]) })} /></p></div>
      <div class="card">
        <p class="note">{[statements!.server, statements!.database && `database ${statements!.database}`].filter(Boolean).join(", ")}</p>
        <div class="scroll">
          <table class="statements blocks">
            <thead><tr>{head("text", "statement")}{head("calls", "calls", num)}{head("time", "time", num)}{head("mean", "mean", num)}{head("rows", "rows per call", num)}</tr></thead>
            <tbody>
              {ordered.map((s) => (
                <tr key={s.queryid}>
                  <td class="own">
                    <code class="sql">{s.text || `query ${s.queryid}`}</code>
                    {s.plan != null && <details><summary>Plan</summary><pre>{JSON.stringify(s.plan, null, 2)}</pre></details>}
                    {s.plan_error && <small>no plan: {s.plan_error}</small>}
                  </td>
                  <td class="num" data-label="calls">{s.known ? count(Math.round(s.calls)) : "–"}</td>
                  <td class="num" data-label="time">{s.known ? duration(s.time_ns) : "–"}</td>
                  <td class="num" data-label="mean">{s.calls > 0 ? duration(s.time_ns / s.calls) : "–"}</td>
                  <td class="num" data-label="rows per call">{s.calls > 0 ? short(s.rows / s.calls) : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </section>
  );
}
