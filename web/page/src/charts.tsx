import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Axis, Chart, Line, OtherSeries, Page } from "./data";
import { clockNote, instantText, timeOfDay, zoneName } from "./clock";
import { draw, forget, groups, heightOf, times, wide, type Surroundings } from "./chart";
import { Downloads, type Table } from "./export";
import { value } from "./format";
import { whenSeen } from "./later";
import { onWidth } from "./paper";
import { select, spanText, step, useSelection, type Span } from "./selection";
import { onThemeChange } from "./theme";

export function TimeSeries({ page }: { page: Page }) {
  const charts = page.charts ?? [];
  const around: Surroundings = { axis: page.axis, spans: page.spans ?? [], heat: page.heat };
  if (charts.length === 0) return null;
  return (
    <section id="series" aria-labelledby="series-title">
      <div class="section-head">
        <h2 id="series-title">Over time</h2>
        <p class="key">
          {around.spans.some((s) => s.kind === "warm-up") && <span><i class="swatch warmup" />warm-up</span>}
          {around.spans.some((s) => s.kind === "trace") && <span><i class="swatch trace" />execution trace</span>}
          {around.spans.filter((s) => s.kind === "mark").map((s, i) => <span key={i} title={timeOfDay(s.from, 1)}><i class="swatch mark" />{s.from.toFixed(1)} s {s.text || "marked"}</span>)}
          <span class="hint">drag over a chart to select a span; all figures on the page then show that span</span>
        </p>
      </div>
      {zoneName() && <p class="note">{clockNote()}</p>}
      {page.axis.windows > 1 && <p class="note">Each point combines {page.axis.windows} windows: the line is their mean, the band their extremes.</p>}
      {groups.map(([id, title]) => {
        const members = charts.filter((c) => c.group === id);
        return members.length > 0 && (
          <div class="group" key={id}>
            <h3>{title}</h3>
            <div class="chart-grid">{members.map((c) => <ChartCard key={c.id} chart={c} around={around} />)}</div>
          </div>
        );
      })}
      <Explorer others={page.others ?? []} around={{ ...around, axis: page.others_axis ?? page.axis }} />
      <SelectionBar whole={wholeOf(page.axis)} />
    </section>
  );
}

export function wholeOf(axis: Axis): Span {
  return { from: axis.from, to: axis.from + axis.step * axis.points };
}

// SelectionBar says what is selected, wherever the reader is, and lets it be typed.
function SelectionBar({ whole }: { whole: Span }) {
  const span = useSelection();
  if (!span) return null;
  const edge = (side: "from" | "to") => (
    <label>{side} <input type="number" step="0.1" min={whole.from} max={whole.to} value={+span[side].toFixed(3)}
      onChange={(e) => select({ ...span, [side]: Number((e.currentTarget as HTMLInputElement).value) })} /> s</label>
  );
  return (
    <aside class="selection" aria-label="Selected time">
      <b class="vh" aria-live="polite">Selected: {spanText(span)}</b>
      {edge("from")} {edge("to")} {zoneName() && <span class="nowrap">{timeOfDay(span.from, 1)} to {timeOfDay(span.to, 1)}</span>}
      <span class="note">Headline, findings and thresholds cover the whole run.</span>
      <button type="button" onClick={() => select(null)}>Show the whole run</button>
    </aside>
  );
}

// tableOf is a chart's data: a row for each point in the selection.
function tableOf(chart: Chart, axis: Axis, span: Span | null): Table {
  const unit = chart.unit === "1" ? "" : ` (${chart.unit})`;
  const at = times(axis).map((t, i): [number, number] => [t, i]).filter(([t]) => !span || (t >= span.from && t < span.to));
  return {
    columns: ["from_s", ...chart.lines.flatMap((l) => [l.label + unit, ...(l.low && l.high ? [`${l.label} least${unit}`, `${l.label} greatest${unit}`] : [])])],
    rows: at.map(([t, i]) => [+(t - axis.step / 2).toFixed(6), ...chart.lines.flatMap((l) => [l.values[i], ...(l.low && l.high ? [l.low[i], l.high[i]] : [])])]),
  };
}

function ChartCard({ chart, around }: { chart: Chart; around: Surroundings }) {
  const host = useRef<HTMLDivElement>(null);
  const readings = useRef<(HTMLElement | null)[]>([]);
  const instant = useRef<HTMLElement>(null);
  const [asTable, setAsTable] = useState(false);
  const span = useSelection();
  useEffect(() => {
    if (!host.current) return;
    const at = host.current;
    // The readings change with every move of the pointer in any chart, so they
    // are written to the text nodes and not through a render.
    const show = (index: number | null) => {
      chart.lines.forEach((line, i) => {
        const cell = readings.current[i];
        if (cell) cell.textContent = index == null ? "" : value(line.values[index], chart.unit);
      });
      const at = index == null ? null : around.axis.from + (index + 0.5) * around.axis.step;
      if (instant.current) instant.current.textContent = at == null ? "" : instantText(at);
    };
    let u: uPlot | null = null;
    const notYet = whenSeen(at, () => { u = draw(at, chart, around, show); });
    const still = onWidth(at, (width) => u?.setSize({ width, height: u.height }));
    const stop = onThemeChange(() => u?.redraw(false, true));
    return () => { notYet(); stop(); still(); if (u) forget(u); };
  }, [chart]);
  const table = (
    <details onToggle={(e) => setAsTable((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>As a table</summary>
      {asTable && <><ChartTable chart={chart} axis={around.axis} span={span} />
        <Downloads name={chart.id} what={chart.title} table={() => tableOf(chart, around.axis, span)} /></>}
    </details>
  );
  if (flat(chart)) { // a picture of nothing takes a line, not a screen
    return (
      <figure class="chart flat" id={"chart-" + chart.id}>
        <figcaption><b>{chart.title}</b><span class="note">{value(0, chart.unit)} throughout: {chart.lines.map((l) => l.label).join(", ")}</span></figcaption>
        {table}
      </figure>
    );
  }
  return (
    <figure class={"chart" + (wide.includes(chart.id) ? " wide" : "")} id={"chart-" + chart.id}>
      <figcaption>
        <b>{chart.title}</b>
        {chart.note && <span class="note">{chart.note}</span>}
        <span class="instant" ref={instant} />
      </figcaption>
      <ul class="legend">
        {chart.lines.map((line, i) => (
          <li key={line.label}>
            <i class={"swatch tone tone-" + line.tone} />
            <span class="legend-label" title={line.label}>{line.label}</span>
            <span class="reading" ref={(e) => { readings.current[i] = e; }} />
          </li>
        ))}
      </ul>
      <div class="plot" ref={host} style={{ minHeight: `${heightOf(chart)}px` }} tabIndex={0} role="application" aria-roledescription="chart"
        aria-label={describe(chart) + ". Arrow left and right select and move a span, up and down make it shorter or longer, Escape shows the whole run."}
        onKeyDown={(e) => { if (step(e.key, wholeOf(around.axis))) e.preventDefault(); }} />
      {table}
    </figure>
  );
}

// flat reports that a chart's lines are zero wherever they are known.
function flat(chart: Chart): boolean {
  return !chart.heat && chart.lines.every((l) => [l.values, l.low, l.high].every((all) => all?.every((v) => v == null || v === 0) ?? true));
}

interface Stats { min: number; mean: number; max: number }

function stats(line: Line, from = 0, to = line.values.length): Stats | null {
  let n = 0, sum = 0, min = Infinity, max = -Infinity;
  for (let i = from; i < to; i++) {
    const v = line.values[i];
    if (v == null) continue;
    n++;
    sum += v;
    min = Math.min(min, line.low?.[i] ?? v);
    max = Math.max(max, line.high?.[i] ?? v);
  }
  return n === 0 ? null : { min, mean: sum / n, max };
}

function describe(chart: Chart): string {
  const lines = chart.lines.map((l) => `${l.label}: mean ${value(stats(l)?.mean, chart.unit)}, at most ${value(stats(l)?.max, chart.unit)}`);
  return `${chart.title} over time. ${lines.join("; ")}`;
}

// slices is the number of rows of a chart's table.
const slices = 12;

function ChartTable({ chart, axis, span }: { chart: Chart; axis: Axis; span: Span | null }) {
  const at = times(axis);
  const inside = at.flatMap((t, i) => (!span || (t >= span.from && t < span.to) ? [i] : []));
  const [begin, end] = [inside[0] ?? 0, (inside.at(-1) ?? -1) + 1];
  const rows = Math.max(1, Math.ceil((end - begin) / slices));
  const starts = Array.from({ length: Math.ceil((end - begin) / rows) }, (_, i) => begin + i * rows);
  const whole = chart.lines.map((l) => stats(l, begin, end));
  return (
    <div class="scroll">
      <table>
        <thead><tr><th scope="col">time</th>{chart.lines.map((l) => <th scope="col" class="num" key={l.label}>{l.label}</th>)}</tr></thead>
        <tbody>
          {starts.map((from) => (
            <tr key={from}>
              <th scope="row">{(at[from]! - axis.step / 2).toFixed(1)} s</th>
              {chart.lines.map((l) => <td class="num" key={l.label}>{value(stats(l, from, Math.min(from + rows, end))?.mean, chart.unit)}</td>)}
            </tr>
          ))}
        </tbody>
        <tfoot>
          {(["min", "mean", "max"] as const).map((k) => (
            <tr key={k}><th scope="row">{k}</th>{whole.map((s, i) => <td class="num" key={i}>{value(s?.[k], chart.unit)}</td>)}</tr>
          ))}
        </tfoot>
      </table>
    </div>
  );
}

// Explorer plots any series that no chart shows.
function Explorer({ others, around }: { others: OtherSeries[]; around: Surroundings }) {
  const [index, setIndex] = useState(-1);
  const chosen = others[index];
  const chart = useMemo<Chart | null>(() => chosen ? {
    id: "other", group: "", title: chosen.name, note: [chosen.labels, around.axis.windows > 1 && `each point combines ${around.axis.windows} windows`].filter(Boolean).join("; "), unit: chosen.unit, stack: false, log: false, heat: false,
    lines: [{ ...chosen, label: chosen.labels || chosen.name }],
  } : null, [chosen]);
  if (others.length === 0) return null;
  return (
    <div class="group">
      <h3>Any other series</h3>
      <p>
        <label>
          Series{" "}
          <select id="explorer" onChange={(e) => setIndex(Number((e.currentTarget as HTMLSelectElement).value))}>
            <option value={-1}>choose one of {others.length}</option>
            {others.map((o, i) => <option value={i} key={i}>{o.labels ? `${o.name} {${o.labels}}` : o.name}</option>)}
          </select>
        </label>
      </p>
      {chart && <ChartCard key={index} chart={chart} around={around} />}
    </div>
  );
}
