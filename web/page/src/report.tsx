import { useEffect, useMemo, useState } from "preact/hooks";
import { unpack, type Later, type Page } from "./data";
import { Headline } from "./headline";
import { Findings } from "./findings";
import { setClock } from "./clock";
import { AnatomySection } from "./anatomy";
import { LoadSection } from "./load";
import { FlameSection } from "./flame/section";
import { TimeSeries, wholeOf } from "./charts";
import { SlowRequests, StatementsSection } from "./slow";
import { Environment, Sources } from "./environment";
import { later, useComplete } from "./later";
import { Latencies } from "./latencies";
import { Requests } from "./requests";
import { address, go, useSelection } from "./selection";
import { Thresholds } from "./thresholds";
import { Tooltip } from "./tooltip";

interface Parts { page: Page; sections: number; left: Later[] }

// last is how many steps it takes until all sections are there that wait for no data.
const last = 3;

// useParts returns the page as far as it is read. The answer is painted first; the sections follow while the browser
// is idle, each with its data.
function useParts(first: Page): Parts {
  const [state, set] = useState<Parts>({ page: first, sections: 0, left: first.later ?? [] });
  useEffect(() => {
    const read = async (part: Later): Promise<Partial<Page>> => {
      const text = await unpack("later-" + part);
      await new Promise<void>(later);
      return JSON.parse(text) as Partial<Page>;
    };
    const all = async () => {
      for (const part of first.later ?? []) {
        const found = await read(part).catch((reason: unknown) => ({ lost: `${part}: this page is damaged (${String(reason)})` }));
        set((s) => ({
          ...s, left: s.left.filter((l) => l !== part),
          page: "lost" in found ? { ...s.page, missing: [...(s.page.missing ?? []), found.lost] } : { ...s.page, ...found },
        }));
      }
    };
    for (let n = 1; n <= last; n++) later(() => set((s) => ({ ...s, sections: n })));
    // The elements stand behind the script, so that a slow connection does not hold the answer up.
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void all(), { once: true });
    else later(() => void all());
  }, []);
  return state;
}

export function App({ page: first }: { page: Page }) {
  useMemo(() => setClock(first.run.clock.epoch_wall), [first]);
  const { page, sections: shown, left } = useParts(first);
  const span = useSelection();
  const comes = (part: Later) => left.includes(part);
  useComplete(shown === last && left.length === 0);
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
    ["flames", "Flame graphs", comes("flames") || (page.flames?.graphs ?? []).length > 0],
    ["series", "Over time", comes("charts") || (page.charts ?? []).length > 0],
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
          {shown > 0 && !comes("latencies") && <LoadSection page={page} latencies={latencies} />}
          {shown > 0 && !comes("latencies") && <Requests page={page} latencies={latencies} />}
          {shown > 1 && <AnatomySection page={page} />}
          <FlameSection set={page.flames} module={page.run.target.module ?? ""} run={page.run.id} remarks={page.remarks ?? []} />
          <TimeSeries page={page} />
          {shown > 2 && <SlowRequests slow={page.slow ?? []} />}
          {shown > 2 && <StatementsSection statements={page.statements} activity={page.activity} />}
          {shown > 2 && <Sources page={page} />}
          {shown > 2 && <Environment page={page} />}
        </main>
      </div>
      <footer>{["redline " + page.run.redline, page.run.id].map((s) => s.trim()).filter(Boolean).join(" · ")}</footer>
      <Tooltip />
    </>
  );
}
