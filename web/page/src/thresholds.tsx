import { Downloads } from "./export";
import { change } from "./format";

// Threshold is one of web/rundata/verdicts.go.
export interface Threshold { expr: string; ok: boolean; limit: string; value: string; margin: number | null }

// Thresholds lists them as the page's data do: those that failed first, then those nearest to their limit.
export function Thresholds({ all }: { all: Threshold[] }) {
  if (all.length === 0) return null;
  const failed = all.filter((t) => !t.ok).length;
  return (
    <section id="thresholds" aria-labelledby="thresholds-title">
      <div class="section-head">
        <h2 id="thresholds-title">Thresholds</h2>
        <p class="key"><span>{failed === 0 ? `all ${all.length} kept` : `${failed} of ${all.length} failed`}, over the whole run</span>
          <Downloads name="thresholds" what="Thresholds" table={() => ({ columns: ["threshold", "kept", "limit", "value", "margin"], rows: all.map((t) => [t.expr, String(t.ok), t.limit, t.value, t.margin]) })} /></p>
      </div>
      <div class="card scroll">
        <table class="threshold-table">
          <thead><tr><th scope="col">threshold</th><th scope="col" class="num">limit</th><th scope="col" class="num">value</th><th scope="col" class="num">margin</th><th scope="col"><span class="vh">share of the limit</span></th></tr></thead>
          <tbody>{all.map((t, i) => (
            <tr key={i} class={t.ok ? "kept" : "failed"}>
              <th scope="row"><span class={t.ok ? "ok" : "bad"} aria-hidden="true">{t.ok ? "✓" : "✗"}</span><span class="vh">{t.ok ? "kept:" : "failed:"}</span> <code>{t.expr}</code></th>
              <td class="num">{t.limit || "–"}</td><td class={"num" + (t.ok ? "" : " bad")}>{t.value}</td>
              <td class="num">{t.margin == null ? "–" : change(t.margin)}</td>
              <td class="threshold-bar" aria-hidden="true">{t.margin != null && <i class={t.ok ? "ok" : "bad"} style={{ width: `${Math.min(Math.abs(t.margin), 1) * 50}%`, [t.margin >= 0 ? "left" : "right"]: "50%" }} />}</td>
            </tr>
          ))}</tbody>
        </table>
        <p class="note">Margin: the distance of the value from the limit, divided by the limit; below zero the threshold failed.</p>
      </div>
    </section>
  );
}
