// What two runs of a service do differently: the page of two runs shows it, and that of a decision.

import { useMemo, useState } from "preact/hooks";
import { Boxes, type Box } from "./flame/boxes";
import { FlameCanvas } from "./flame/canvas";
import { cardOf, labelOf } from "./flame/section";
import { Names, Tree, type FlameSet } from "./flame/tree";
import { Code } from "./name";
import { change, duration, percent, value } from "./format";
import { num, useOrder } from "./order";

export interface Change { place: string; a_ns: number; b_ns: number }
export interface Fate { cause: string; title: string; place: string; a: string; b: string }

// Fates lists the findings that came and went.
export function Fates({ findings }: { findings: Fate[] }) {
  if (findings.length === 0) return <p>Neither run has any.</p>;
  return (
    <div class="card scroll"><table class="fates">
      <thead><tr><th scope="col"><span class="vh">what became of it</span></th><th scope="col">finding</th><th scope="col">a</th><th scope="col">b</th></tr></thead>
      <tbody>{findings.map((f, i) => {
        const fate = !f.a ? "came" : !f.b ? "went" : "stayed";
        return <tr key={i}><td><i class={"fate " + fate}>{fate}</i></td><td>{f.title}<br /><Code text={f.place || f.cause} /></td><td data-side="a">{f.a || "–"}</td><td data-side="b">{f.b || "–"}</td></tr>;
      })}</tbody>
    </table></div>
  );
}

// Differences are flame graphs: what takes more in one of the runs, and what takes less.
export function Differences({ set }: { set: FlameSet }) {
  const graphs = set.graphs ?? [];
  const names = useMemo(() => new Names(set), [set]);
  const trees = useMemo(() => new Map(graphs.map((g) => [g.id, new Tree(names, g)])), [set]);
  const [id, setId] = useState(graphs[0]?.id ?? "");
  const [column, setColumn] = useState(1);
  const [inverted, setInverted] = useState(false);
  const [query, setQuery] = useState("");
  const tree = trees.get(id);
  const drawing = useMemo(() => {
    if (!tree) return null;
    const boxes = new Boxes(tree, { column, other: 1 - column, lines: false, inverted });
    const { unit } = tree.graph.columns[0]!;
    const wholes = [0, 1].map((c) => tree.totals[c]![0]! || 1) as [number, number];
    const [ab, text] = [(box: Box) => (column === 0 ? [box.total, box.other] : [box.other, box.total]) as [number, number], query.trim().toLowerCase()];
    const differs = (box: Box): number => {
      const [a, b] = ab(box);
      const { each, share } = tree.graph.noise!;
      const least = Math.max(3 * Math.sqrt(a * each[0] + b * each[1]), share * Math.max(...wholes));
      return Math.abs(b - a) < least || a === b ? 0 : (b - a) / Math.max(a, b);
    };
    return {
      boxes, module: "", change: differs, described: `Difference of ${tree.graph.title}.`,
      label: (box: Box) => {
        const d = box.key < 0 ? 0 : differs(box);
        return (d > 0 ? "+ " : d < 0 ? "− " : "") + labelOf(tree, box, tree.graph.title);
      },
      card: (box: Box) => {
        const [a, b] = ab(box);
        const lines = cardOf(tree, box, boxes, unit, wholes[column]!, tree.graph.title).slice(0, box.key < 0 ? 1 : 2);
        const d = differs(box);
        return [...lines, `a ${value(a, unit)} (${percent(a / wholes[0])})`, `b ${value(b, unit)} (${percent(b / wholes[1])})`,
          d === 0 && box.key >= 0 ? "within noise" : a === 0 ? "only in b" : b === 0 ? "only in a" : change(b / a - 1)];
      },
      matches: text ? (box: Box) => tree.names.name[tree.fn[box.node]!]!.toLowerCase().includes(text) : null,
    };
  }, [tree, column, inverted, query]);
  if (!tree || !drawing) return null;
  return (
    <section id="flames" aria-labelledby="flames-title">
      <div class="section-head"><h2 id="flames-title">Flame graph of the difference</h2>
        <fieldset class="switch flame-tabs"><legend class="vh">Flame graph</legend>
          {graphs.map((g) => <label key={g.id}><input type="radio" name="flame" value={g.id} checked={g.id === id} onChange={() => setId(g.id)} /><span>{g.title}</span></label>)}
        </fieldset>
      </div>
      <div class="card flame-graph" data-graph={tree.graph.id}>
        <div class="flame-tools">
          <label class="flame-search"><span class="vh">Search functions</span><input type="search" placeholder="Search functions" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} /></label>
          <label>Width <select value={column} onChange={(e) => setColumn(Number((e.currentTarget as HTMLSelectElement).value))}><option value={1}>as in b</option><option value={0}>as in a</option></select></label>
          <label><input type="checkbox" checked={inverted} onChange={() => setInverted(!inverted)} /> inverted</label>
        </div>
        <p class="note">{tree.graph.note} a {value(tree.totals[0]![0]!, "ns")}, b {value(tree.totals[1]![0]!, "ns")}.</p>
        <FlameCanvas drawing={drawing} />
        <ul class="state-key"><li><i class="swatch diff-more" />+ more in b</li><li><i class="swatch diff-less" />− less in b</li><li><i class="swatch diff-same" />within noise</li></ul>
      </div>
    </section>
  );
}

// Changes lists where time differs, the largest difference first.
export function Changes({ parts, tail, functions }: { parts: Change[]; tail: Change[]; functions: Change[] }) {
  const lists: [string, Change[]][] = [["Where the mean request's time differs", parts], ["Where the time of the slowest 1 % differs", tail], ["CPU per request, by function", functions]];
  return (
    <>
      {lists.filter(([, list]) => list.length > 0).map(([title, list]) => (
        <ChangeTable key={title} title={title} list={list} />
      ))}
    </>
  );
}

function ChangeTable({ title, list }: { title: string; list: Change[] }) {
  const { ordered, head } = useOrder(list, { a: (c) => c.a_ns, b: (c) => c.b_ns, change: (c) => c.b_ns - c.a_ns, place: (c) => c.place });
  return (
    <section><h2>{title}</h2><div class="card scroll"><table class="blocks">
      <thead><tr>{head("a", "a", num)}{head("b", "b", num)}{head("change", "b − a", num)}{head("place", "place")}</tr></thead>
      <tbody>{ordered.map((c, i) => <tr key={i}><td class="num" data-label="a">{duration(c.a_ns)}</td><td class="num" data-label="b">{duration(c.b_ns)}</td>
        <td data-label="b − a" class={"num " + (c.b_ns > c.a_ns ? "worse" : "better")}>{c.b_ns > c.a_ns ? "+" : ""}{duration(c.b_ns - c.a_ns)}</td><td class="own"><Code text={c.place} /></td></tr>)}</tbody>
    </table></div></section>
  );
}
