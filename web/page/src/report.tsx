import { useMemo } from "preact/hooks";
import type { Page } from "./data";
import { Headline } from "./headline";
import { Findings } from "./findings";
import { AnatomySection } from "./anatomy";
import { LoadSection } from "./load";
import { FlameSection } from "./flame/section";
import { TimeSeries, wholeOf } from "./charts";
import { SlowRequests, StatementsSection } from "./slow";
import { Environment, Sources } from "./environment";
import { Latencies } from "./latencies";
import { Requests } from "./requests";
import { address, go, useSelection } from "./selection";
import { Thresholds } from "./thresholds";
import { Tooltip } from "./tooltip";

export function App({ page }: { page: Page }) {
  const span = useSelection();
  const latencies = useMemo(() => {
    const { steady } = page.run;
    const judged = steady.to_ns > steady.from_ns ? { from: steady.from_ns / 1e9, to: steady.to_ns / 1e9 } : wholeOf(page.axis);
    return page.latencies && new Latencies(page.latencies, judged);
  }, [page]);
  const sections: [string, string, boolean][] = [
    ["findings", "Findings", true],
    ["thresholds", "Thresholds", (page.thresholds ?? []).length > 0],
    ["load", "Load", page.summary.load.requests > 0],
    ["requests", "Requests", (page.summary.load.steps ?? []).length > 0],
    ["anatomy", "Anatomy", page.anatomy != null],
    ["flames", "Flame graphs", (page.flames?.graphs ?? []).length > 0],
    ["series", "Over time", (page.charts ?? []).length > 0],
    ["slow", "Slow requests", (page.slow ?? []).length > 0],
    ["statements", "Statements", (page.statements?.statements ?? []).length > 0],
    ["sources", "Sources", (page.summary.sources ?? []).length > 0],
    ["environment", "Environment", true],
  ];
  return (
    <>
      <a class="skip" href="#main">Skip to the findings</a>
      <Headline page={page} />
      <div class="frame">
        <nav aria-label="Sections">
          <ul>{sections.filter((s) => s[2]).map(([id, title]) => <li key={id}><a href={address(id, span)} onClick={(e) => { e.preventDefault(); go(id); }}>{title}</a></li>)}</ul>
        </nav>
        <main id="main">
          <Findings page={page} />
          <Thresholds all={page.thresholds ?? []} />
          <LoadSection page={page} latencies={latencies} />
          <Requests page={page} latencies={latencies} />
          <AnatomySection page={page} />
          <FlameSection set={page.flames} module={page.run.target.module ?? ""} run={page.run.id} remarks={page.remarks ?? []} />
          <TimeSeries page={page} />
          <SlowRequests slow={page.slow ?? []} />
          <StatementsSection statements={page.statements} activity={page.activity} />
          <Sources page={page} />
          <Environment page={page} />
        </main>
      </div>
      <footer>redline {page.run.redline} · {page.run.id}</footer>
      <Tooltip />
    </>
  );
}
