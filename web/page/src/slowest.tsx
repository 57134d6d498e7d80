import { useState } from "preact/hooks";
import type { SlowRequest, Timeline } from "./data";
import { timeOfDay } from "./clock";
import { duration, percent } from "./format";
import { Code } from "./name";
import { stateClass } from "./theme";

// Slowest shows the slowest requests one by one: what each did, from begin to end,
// and what happened around it.
export function Slowest({ requests, timelines, of }: { requests: SlowRequest[]; timelines: Timeline[]; of: number }) {
  const [all, setAll] = useState(false);
  if (of === 0) return null;
  const shown = all ? timelines : timelines.slice(0, 8);
  const longest = Math.max(1, ...timelines.map((t) => t.to_ns - t.from_ns));
  return (
    <div class="card" id="slowest">
      <h3>The slowest requests, from start to end</h3>
      {timelines.length < of && <p class="covers">{timelines.length} of {of} lie in the selection.</p>}
      <p class="note">Each bar is one request, all on the same time scale, in the colours above. Hover over a bar for its parts; open it for the step-by-step timeline.</p>
      <ol class="timelines">
        {shown.map((t, i) => {
          const request = requests.find((one) => one.begin_ns === t.from_ns && one.took_ns === t.to_ns - t.from_ns);
          return (
            <li key={i}>
              <TimelineRow timeline={t} longest={longest} />
              {request && <Story request={request} open={i === 0} />}
            </li>
          );
        })}
      </ol>
      {timelines.length > 8 && <button type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${timelines.length}`}</button>}
    </div>
  );
}

function TimelineRow({ timeline, longest }: { timeline: Timeline; longest: number }) {
  const length = timeline.to_ns - timeline.from_ns;
  const spent = new Map<string, number>();
  for (const s of timeline.segments) spent.set(s.state, (spent.get(s.state) ?? 0) + s.ns);
  const most = [...spent].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([state, ns]) => `${state} ${duration(ns)}`).join(", ");
  return (
    <div class="timeline">
      <span class="when" title={timeOfDay(timeline.from_ns / 1e9, 3)}>{(timeline.from_ns / 1e9).toFixed(3)} s</span>
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label={`Request of ${duration(length)}: ${most}`}>
        {timeline.segments.map((s, i) => (
          <rect key={i} class={stateClass(s.state)} x={((s.from_ns - timeline.from_ns) / longest) * 1000} y="0" width={Math.max((s.ns / longest) * 1000, 0.4)} height="16"
            data-tip={`${s.state}${s.site ? "\n" + s.site : ""}\n${duration(s.ns)}, ${duration(s.from_ns - timeline.from_ns)} after its begin`} />
        ))}
      </svg>
      <span class="num">{duration(length)}</span>
    </div>
  );
}

function Story({ request, open }: { request: SlowRequest; open: boolean }) {
  return (
    <details class="story" open={open}>
      <summary>{request.lead}</summary>
      {request.name && <p class="note">Request {request.id}, {request.name}: its sender waited {duration(request.latency_ns ?? 0)} for the answer.</p>}
      <div class="scroll"><table class="blocks">
        <thead><tr><th scope="col" class="num">after its begin</th><th scope="col" class="num">for</th><th scope="col" class="num">share</th><th scope="col">what it did</th></tr></thead>
        <tbody>
          {(request.steps ?? []).map((s, i) => (
            <tr key={i} class={s.rest ? "rest" : ""}>
              <td class="num" data-label="after">{duration(s.at_ns)}</td>
              <td class="num" data-label="for">{duration(s.took_ns)}</td>
              <td class="num">{percent(s.share)}</td>
              <td class="own">
                {!s.rest && <i class={"swatch " + stateClass(s.state)} />}{s.text}{s.times > 1 && `, ${s.times} times`}
                {s.place && !s.rest && <> <Code text={s.place} /></>}
                {s.for && <div class="note">for {s.for}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table></div>
      {(request.meanwhile ?? []).length > 0 && <><h4>Meanwhile</h4><ul class="plain">{request.meanwhile!.map((m, i) => <li key={i}>{m}</li>)}</ul></>}
      {(request.spans ?? []).length > 0 && <><h4>Spans that the services reported</h4><ul class="plain">{request.spans!.map((m, i) => <li key={i}>{m}</li>)}</ul></>}
    </details>
  );
}
