import type { Basis, Finding, Page } from "./data";
import { shortFile } from "./format";
import { Code, Name } from "./name";
import { select, spanText, useSelection, type Span } from "./selection";

export function Findings({ page }: { page: Page }) {
  const findings = page.summary.findings ?? [];
  const notJudged = page.summary.not_judged ?? [];
  const warnings = [...(page.summary.warnings ?? [])];
  return (
    <section id="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      {findings.length === 0 && <p>None.</p>}
      <ol class="findings">
        {findings.map((f, i) => <FindingCard key={i} rank={i + 1} finding={f} weight={page.weights?.[i] ?? ""} basis={page.basis?.[i] ?? []} whole={{ from: page.axis.from, to: page.axis.from + page.axis.step * page.axis.points }} />)}
      </ol>
      {notJudged.length > 0 && (
        <details class="card quiet" open={findings.length === 0}>
          <summary>Not judged: {notJudged.length} {notJudged.length === 1 ? "cause" : "causes"} because data is missing</summary>
          <ul class="plain">{byReason(notJudged).map(([why, causes]) => <li key={why}><b>{causes.join(", ")}</b>: {why}</li>)}</ul>
        </details>
      )}
      {warnings.length > 0 && <div class="card warning"><h3>Warnings</h3><ul class="plain">{warnings.map((w, i) => <li key={i}>{w}</li>)}</ul></div>}
      {(page.missing ?? []).length > 0 && <div class="card warning"><h3>Not in this report</h3><ul class="plain">{page.missing!.map((m, i) => <li key={i}>{m}</li>)}</ul></div>}
    </section>
  );
}

function byReason(all: { cause: string; why: string }[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const n of all) groups.set(n.why, [...(groups.get(n.why) ?? []), n.cause]);
  return [...groups];
}

// RestsOn marks on a line of the run's time where a finding's evidence is from; a click selects it.
function RestsOn({ basis, whole }: { basis: Basis[]; whole: Span }) {
  const span = useSelection();
  const length = whole.to - whole.from;
  if (basis.length === 0 || !(length > 0)) return null;
  const at = (s: number) => `${Math.max(0, Math.min(100, ((s - whole.from) / length) * 100))}%`;
  const part = (s: Span) => ({ left: at(s.from), width: `max(3px, ${((Math.min(s.to, whole.to) - s.from) / length) * 100}%)` });
  const outside = span && !basis.some((b) => b.to > span.from && b.from < span.to);
  const sources = [...new Set(basis.map((b) => b.source))];
  return (
    <div class="rests">
      {sources.map((source) => (
        <div class="rests-line" key={source}>
          <span>{source}</span>
          <span class="rests-time">
            {basis.filter((b) => b.source === source).map((b, i) => <button type="button" key={i} class="rests-span" style={part(b)} aria-label={`Select ${spanText(b)}, the basis of this finding: ${source}`} data-tip={`${source}: ${spanText(b)}`} onClick={() => select(b)} />)}
            {span && <i class="rests-selected" style={part(span)} />}
          </span>
        </div>
      ))}
      {outside && <p class="note">None of its data is in the selection.</p>}
    </div>
  );
}

function FindingCard({ rank, finding, weight, basis, whole }: { rank: number; finding: Finding; weight: string; basis: Basis[]; whole: Span }) {
  const { where } = finding;
  const share = Math.min(Math.max(finding.share, 0), 1);
  return (
    <li class="card finding" id={"finding-" + rank}>
      <div class="finding-head">
        <span class="rank" aria-hidden="true">{rank}</span>
        <h3>{finding.title}</h3>
        <code class="cause">{finding.cause}</code>
      </div>
      <div class="weigh">
        <div class="meter" aria-hidden="true"><i style={{ width: `${share * 100}%` }} /></div>
        <span>{weight}</span>
      </div>
      <dl>
        {(where.function || where.file || where.detail || where.sql) && (
          <>
            <dt>Where</dt>
            <dd>
              {where.function && <div><Code text={where.function} /></div>}
              {where.file && <div><code title={where.file}><Name text={shortFile(where.file, where.line)} /></code></div>}
              {where.detail && <div>{where.detail}</div>}
              {where.sql && <pre>{where.sql}</pre>}
            </dd>
          </>
        )}
        {finding.remedy && <><dt>What to do</dt><dd class="remedy">{finding.remedy}</dd></>}
        {(finding.evidence ?? []).length > 0 && (
          <>
            <dt>Rests on</dt>
            <dd><RestsOn basis={basis} whole={whole} /></dd>
            <dt>Evidence</dt>
            <dd><ul class="plain">{finding.evidence!.map((e, i) => <li key={i}>{e.text} <span class="source">{e.source}</span></li>)}</ul></dd>
          </>
        )}
      </dl>
      {(finding.rejected ?? []).length > 0 && (
        <details>
          <summary>Considered and rejected ({finding.rejected!.length})</summary>
          <ul class="plain">{finding.rejected!.map((r, i) => <li key={i}><code>{r.cause}</code>: {r.why}</li>)}</ul>
        </details>
      )}
    </li>
  );
}
