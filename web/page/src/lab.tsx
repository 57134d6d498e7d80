import { useMemo, useState } from "preact/hooks";
import { Downloads } from "./export";
import { count, figure, rate } from "./format";
import { start } from "./start";

interface Row { id: string; what: string; expect: string; safety: string; claimed: string; factor: number; metric: string; measured: string; estimate: number; low: number; high: number; verdict: string; why: string }
interface Rung { name: string; title: string; finding: string; rate: number; figures: string; gain: number; low: number; high: number; text: string; clear: boolean }
interface Ladder { title: string; note: string; rungs: Rung[]; marks: { what: string; claimed: string; measured: string; verdict: string }[] }
interface Data { title: string; machine: string; decided: number; rows: Row[]; ladders: Ladder[]; counts: Record<string, number> }

// tally writes how often each verdict is, the most frequent first, and at the end what has none.
function tally(counts: Record<string, number>): string {
  let elsewhere = 0; // claims that other commands settle name their command
  const verdicts: [string, number][] = [];
  for (const [verdict, n] of Object.entries(counts)) {
    if (verdict.startsWith("see ")) elsewhere += n;
    else if (verdict !== "not run") verdicts.push([verdict, n]);
  }
  const parts = verdicts.sort((a, b) => b[1] - a[1]).map(([verdict, n]) => `${count(n)} ${verdict}`);
  if (elsewhere > 0) parts.push(`${count(elsewhere)} settled by other commands`);
  if (counts["not run"]) parts.push(`${count(counts["not run"])} not run`);
  return parts.join(", ");
}

const factor = (v: number) => figure(v) + "x";

function Lab({ data }: { data: Data }) {
  return (
    <>
      <a class="skip" href="#main">Skip to the results</a>
      <header class={"headline " + (data.rows.length > 0 ? "neutral" : "healthy")}><div class="inner">
        <p class="brand"><b>redline</b> <span>lab</span></p>
        <h1>{data.title}</h1>
        <p class="note">{data.machine}</p>
        {data.rows.length > 0 && <p class="lead">{count(data.decided)} {data.decided === 1 ? "result" : "results"} on {count(data.rows.length)} experiments and claims: {tally(data.counts)}.</p>}
      </div></header>
      <main id="main" class="shelf">
        {data.ladders.map((l) => <LadderCard key={l.title} ladder={l} />)}
        {data.rows.length > 0 && <Claims data={data} />}
      </main>
    </>
  );
}

// LadderCard draws each rung's rate as a bar, on a logarithmic scale since ladders gain orders of magnitude, and
// its gain over the rung below with the interval.
function LadderCard({ ladder }: { ladder: Ladder }) {
  const rates = ladder.rungs.map((r) => r.rate).filter((v) => v > 0);
  const [least, most] = [Math.min(...rates) * 0.7, Math.max(...rates)];
  const width = (v: number) => (v > 0 && most > least ? (Math.log(v / least) / Math.log(most / least)) * 100 : 0);
  const id = "ladder-" + ladder.title.replace(/\W+/g, "-");
  return (
    <section aria-labelledby={id}>
      <div class="section-head"><h2 id={id}>{ladder.title}</h2>
        <Downloads name="ladder" what={ladder.title} table={() => ({ columns: ["rung", "finding", "rate_per_s", "gain", "low", "high", "clear"], rows: ladder.rungs.map((r) => [r.name, r.finding, r.rate, r.gain || null, r.low || null, r.high || null, String(r.clear)]) })} /></div>
      <div class="card scroll"><table class="rungs blocks">
        <thead><tr><th scope="col">rung</th><th scope="col">called for by</th><th scope="col">requests per second</th><th scope="col">gain over the previous rung, 95 % interval</th></tr></thead>
        <tbody>{ladder.rungs.map((r, i) => (
          <tr key={i}>
            <th scope="row" class="own">{r.name}{r.title && <small>{r.title}</small>}</th><td>{r.finding ? <code>{r.finding}</code> : i > 0 ? <span class="note">no finding</span> : ""}</td>
            <td class="rung-rate own"><span class="rung-bar" aria-hidden="true"><i style={{ width: `${width(r.rate)}%` }} /></span><b>{r.rate > 0 ? rate(r.rate) : "no data"}</b><small>{r.figures}</small></td>
            <td class="interval own">{i > 0 && r.low > 0 && <Interval row={r} claimed={0} kind={!r.clear ? "noise" : r.gain >= 1 ? "better" : "worse"} label={`${r.name}: ${r.text}`} />}<span>{i > 0 ? r.text : ""}</span></td>
          </tr>
        ))}</tbody>
      </table>
      {ladder.marks.length > 0 && <ul class="plain marks">{ladder.marks.map((m, i) => <li key={i}><i class={"fate mark-" + m.verdict.replace(" ", "-")}>{m.verdict}</i>{m.what}: claimed {m.claimed}, measured {m.measured || "nothing"}</li>)}</ul>}
      {ladder.note && <p class="note">{ladder.note}</p>}
      <p class="note">Bars of rates are on a logarithmic scale.</p></div>
    </section>
  );
}

// Interval draws a gain around 1x on a logarithmic scale from a hundredth to a hundred times; what lies beyond is at its edge.
function Interval({ row, claimed, kind, label }: { row: { gain?: number; estimate?: number; low: number; high: number }; claimed: number; kind: string; label: string }) {
  const at = (v: number) => 50 + Math.max(-1, Math.min(1, Math.log(Math.max(v, 1e-9)) / Math.log(100))) * 49;
  const estimate = row.gain ?? row.estimate ?? 0;
  return (
    <svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label={label}>
      {[0.1, 10].map((v) => <line key={v} x1={at(v)} x2={at(v)} y1="0" y2="14" class="tenfold" />)}
      <line x1="50" x2="50" y1="0" y2="14" class="zero" />
      <rect class={kind} x={at(row.low)} width={Math.max(at(row.high) - at(row.low), 0.6)} y="4" height="6" />
      <rect class="estimate" x={at(estimate) - 0.2} width="0.4" y="2" height="10" />
      {claimed > 0 && <rect class="claimed" x={at(claimed) - 0.25} width="0.5" y="0" height="14" />}
    </svg>
  );
}

const kinds: Record<string, string> = { confirmed: "better", smaller: "noise", reversed: "worse", "no effect": "noise" };

function Claims({ data }: { data: Data }) {
  const [verdict, setVerdict] = useState("");
  const [query, setQuery] = useState("");
  const verdicts = Object.keys(data.counts).sort((a, b) => data.counts[b]! - data.counts[a]!);
  const shown = useMemo(() => {
    const text = query.trim().toLowerCase();
    return data.rows.filter((r) => (verdict === "" || r.verdict === verdict) && (r.id + " " + r.what).toLowerCase().includes(text));
  }, [data, verdict, query]);
  return (
    <section aria-labelledby="claims-title">
      <div class="section-head"><h2 id="claims-title">Claimed and measured</h2>
        <Downloads name="claims" what="Claims" table={() => ({ columns: ["id", "what", "claimed", "claimed_factor", "metric", "gain", "low", "high", "verdict", "why"], rows: shown.map((r) => [r.id, r.what, r.claimed, r.factor || null, r.metric, r.estimate || null, r.low || null, r.high || null, r.verdict, r.why]) })} /></div>
      <div class="card">
        <div class="flame-tools">
          <label class="request-search"><span class="vh">Search claims</span><input type="search" placeholder="Search claims" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} /></label>
          <label>Verdict <select value={verdict} onChange={(e) => setVerdict((e.currentTarget as HTMLSelectElement).value)}>
            <option value="">any ({data.rows.length})</option>{verdicts.map((v) => <option key={v} value={v}>{v} ({data.counts[v]})</option>)}
          </select></label>
          <span class="note" aria-live="polite">{count(shown.length)} shown</span>
        </div>
        <p class="note">Each gain is how many times better the tuned side is, with its interval, on a logarithmic scale around 1x; faint lines are 0.1x and 10x, the red stroke is the claimed factor.</p>
        <div class="scroll"><table class="claims blocks">
          <thead><tr><th scope="col">claim</th><th scope="col">claimed</th><th scope="col">measured</th><th scope="col">verdict</th></tr></thead>
          <tbody>{shown.map((r) => (
            <tr key={r.id} id={r.id}>
              <th scope="row" class="own"><code>{r.id}</code><span>{r.what}</span>
                {(r.expect || r.safety) && <details><summary>expected</summary><p class="note">{r.expect}</p>{r.safety && <p class="note">{r.safety}</p>}</details>}</th>
              <td data-label="claimed">{r.claimed || "–"}{r.factor > 0 && <small> {factor(r.factor)}</small>}</td>
              <td class="interval own">{r.low > 0 && <Interval row={r} claimed={r.factor} kind={kinds[r.verdict] ?? "noise"} label={`${r.id}: ${r.measured}`} />}<span>{r.measured || "–"}{r.measured && r.metric && `, ${r.metric}`}</span></td>
              <td class="own"><i class={"fate verdict-" + r.verdict.replace(" ", "-")}>{r.verdict}</i>{r.why && <small>{r.why.replaceAll(" %", "\u00a0%")}</small>}</td>
            </tr>
          ))}</tbody>
        </table></div>
        {shown.length === 0 && <p class="note">No claim matches.</p>}
      </div>
    </section>
  );
}

start<Data>((data) => <Lab data={data} />);
