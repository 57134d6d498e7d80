import type { Failure, Page } from "./data";
import { timeOfDay } from "./clock";
import { Downloads } from "./export";
import { count, percent } from "./format";
import { num, useOrder } from "./order";
import { seconds, select, spanText, useSelection } from "./selection";

// shortest is the least span that a click on a failure selects, in seconds: a window on either side of one instant.
const shortest = 0.2;

// spanOf is when a failure was seen, in whole windows.
function spanOf(f: Failure): { from: number; to: number } {
  const [first, last] = [f.first_ns / 1e9, f.last_ns / 1e9];
  const from = Math.floor(first * 10) / 10;
  return { from, to: Math.max(Math.ceil(last * 10) / 10, from + shortest) };
}

// Failures counts errors by what they say; a click on when shows what happened then.
export function Failures({ page }: { page: Page }) {
  const { load } = page.summary;
  const all = load.failures ?? [];
  const span = useSelection();
  const { ordered, head } = useOrder(all, {
    kind: (f) => f.kind, text: (f) => f.text, request: (f) => f.request ?? "", count: (f) => f.count, share: (f) => f.count, when: (f) => -f.first_ns,
  });
  if (all.length === 0) return null;
  const named = all.some((f) => f.request);
  return (
    <div class="card" id="failures">
      <div class="section-head"><h3>Errors by message{span && ", in the whole run"}</h3>
        <Downloads name="errors" what="Errors by message" table={() => ({
          columns: ["kind", "message", "request", "count", "first_ns", "last_ns"], rows: ordered.map((f) => [f.kind, f.text, f.request ?? "", f.count, f.first_ns, f.last_ns]),
        })} /></div>
      <div class="scroll">
        <table class="blocks">
          <thead><tr>{head("kind", "kind")}{head("text", "what the generator saw")}{named && head("request", "request")}{head("count", "errors", num)}{head("share", "of all requests", num)}{head("when", "when")}</tr></thead>
          <tbody>
            {ordered.map((f, i) => (
              <tr key={i}>
                <td class="nowrap" data-label="kind">{f.kind || "–"}</td>
                <td class="own">{f.text || <span class="note">messages beyond the {all.length - 1} listed</span>}</td>
                {named && <td class={f.request ? "" : "empty"} data-label="request">{f.request ?? "–"}</td>}
                <td class="num bad" data-label="errors">{count(f.count)}</td>
                <td class="num" data-label="of all requests">{percent(f.count / load.requests)}</td>
                <td class="own"><button type="button" class="plain-button when" title={timeOfDay(f.first_ns / 1e9)} onClick={() => select(spanOf(f))}>{f.count === 1 || f.first_ns === f.last_ns ? seconds(f.first_ns / 1e9) : spanText({ from: f.first_ns / 1e9, to: f.last_ns / 1e9 })}</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">Click a span of time to select it on the whole page. Answers' bodies are not kept: they may hold users' data.</p>
    </div>
  );
}
