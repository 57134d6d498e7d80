import { useState } from "preact/hooks";
import type { SlowRequest, Statements } from "./data";
import { count, duration } from "./format";

export function SlowRequests({ slow }: { slow: SlowRequest[] }) {
  const [all, setAll] = useState(false);
  if (slow.length === 0) return null;
  const shown = all ? slow : slow.slice(0, 10);
  const longest = Math.max(1, ...slow.map((s) => s.done_ns - s.intended_ns));
  return (
    <section id="slow" aria-labelledby="slow-title">
      <h2 id="slow-title">The slowest requests, seen by the generator</h2>
      <div class="card">
        <div class="scroll">
          <table class="slow">
            <thead>
              <tr>
                <th scope="col">due at</th><th scope="col">request</th><th scope="col" class="num"><i class="swatch slow-wait" />before sending</th>
                <th scope="col" class="num"><i class="swatch slow-first" />to first byte</th><th scope="col" class="num"><i class="swatch slow-body" />to the end</th><th scope="col" class="num">latency</th><th scope="col"><span class="vh">shares</span></th><th scope="col">result</th>
              </tr>
            </thead>
            <tbody>{shown.map((s, i) => <SlowRow key={i} slow={s} longest={longest} />)}</tbody>
          </table>
        </div>
        {slow.length > 10 && <button type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${slow.length}`}</button>}
      </div>
    </section>
  );
}

function SlowRow({ slow: s, longest }: { slow: SlowRequest; longest: number }) {
  // A request that failed early has no first byte, and perhaps was never sent.
  const sent = s.sent_ns > 0 ? s.sent_ns : s.done_ns;
  const first = s.first_byte_ns > 0 ? s.first_byte_ns : s.done_ns;
  const parts: [string, string, number][] = [["wait", "before sending", sent - s.intended_ns], ["first", "to first byte", first - sent], ["body", "to the end", s.done_ns - first]];
  const total = s.done_ns - s.intended_ns;
  return (
    <tr>
      <td class="nowrap">{(s.intended_ns / 1e9).toFixed(3)} s</td>
      <td>{s.request} <small>connection {s.connection}</small></td>
      {parts.map(([key, , ns]) => <td class="num" key={key}>{duration(ns)}</td>)}
      <td class="num"><b>{duration(total)}</b></td>
      <td class="mini"><span class="bar" aria-hidden="true" style={{ width: `${(total / longest) * 100}%` }}>{parts.map(([key, name, ns]) => <i key={key} class={"slow-" + key} style={{ width: `${(ns / Math.max(total, 1)) * 100}%` }} data-tip={`${name}\n${duration(ns)}`} />)}</span></td>
      <td class={s.error ? "bad" : ""}>{s.error ? `${s.error}${s.status ? ` (${s.status})` : ""}` : s.status || "–"}</td>
    </tr>
  );
}

export function StatementsSection({ statements }: { statements: Statements | null }) {
  const all = statements?.statements ?? [];
  if (all.length === 0) return null;
  return (
    <section id="statements" aria-labelledby="statements-title">
      <h2 id="statements-title">SQL statements</h2>
      <div class="card">
        <p class="note">{[statements!.server, statements!.database && `database ${statements!.database}`].filter(Boolean).join(", ")}</p>
        <div class="scroll">
          <table class="statements">
            <thead><tr><th scope="col">statement</th><th scope="col" class="num">calls</th><th scope="col" class="num">time</th><th scope="col" class="num">mean</th><th scope="col" class="num">rows per call</th></tr></thead>
            <tbody>
              {all.map((s) => (
                <tr key={s.queryid}>
                  <td>
                    <code class="sql">{s.text || `query ${s.queryid}`}</code>
                    {s.plan != null && <details><summary>Plan</summary><pre>{JSON.stringify(s.plan, null, 2)}</pre></details>}
                    {s.plan_error && <small>no plan: {s.plan_error}</small>}
                  </td>
                  <td class="num">{count(s.calls)}</td>
                  <td class="num">{duration(s.time_ns)}</td>
                  <td class="num">{s.calls > 0 ? duration(s.time_ns / s.calls) : "–"}</td>
                  <td class="num">{s.calls > 0 ? (s.rows / s.calls).toFixed(1) : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </section>
  );
}
