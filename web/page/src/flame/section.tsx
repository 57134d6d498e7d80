import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Boxes, type Box } from "./boxes";
import { FlameCanvas, type Drawing } from "./canvas";
import { owners } from "./colours";
import { FunctionTable } from "./table";
import { Names, Tree, type FlameSet } from "./tree";
import { download, profile } from "./pprof";
import { percent, shortFile, value } from "../format";
import { Code, Name } from "../name";
import { seconds, spanText, useSelection, type Span } from "../selection";
import { stateClass } from "../theme";

// Remark is what the Go compiler says of a line of the service's own code.
export interface Remark { file: string; line: number; text: string }

interface Options { set: FlameSet | null; module: string; run: string; remarks: Remark[] }

// FlameSection shows all flame graphs of a run, one at a time.
export function FlameSection({ set, module, run, remarks }: Options) {
  const names = useMemo(() => set && new Names(set), [set]);
  const graphs = set?.graphs ?? [];
  const [id, setId] = useState(graphs[0]?.id ?? "");
  const graph = graphs.find((g) => g.id === id) ?? graphs[0];
  const trees = useRef(new Map<string, Tree>());
  const span = useSelection();
  const whole = useMemo(() => {
    if (!names || !graph) return null;
    let tree = trees.current.get(graph.id);
    if (!tree) trees.current.set(graph.id, (tree = new Tree(names, graph)));
    return tree;
  }, [names, graph]);
  const tree = useMemo(() => (span && whole?.within(span)) || whole, [whole, span]);
  if (!names || !graph || !tree || !whole) return null;
  const follows = span ? coverage(whole, tree, span) : "";
  return (
    <section id="flames" aria-labelledby="flames-title">
      <div class="section-head">
        <h2 id="flames-title">Flame graphs</h2>
        <fieldset class="switch flame-tabs">
          <legend class="vh">Flame graph</legend>
          {graphs.map((g) => (
            <label key={g.id}><input type="radio" name="flame" value={g.id} checked={g.id === graph.id} onChange={() => setId(g.id)} /><span>{g.title}</span></label>
          ))}
        </fieldset>
      </div>
      <FlameGraph key={graph.id} tree={tree} module={module} run={run} remarks={remarks} follows={follows} />
    </section>
  );
}

// coverage says what a graph shows under a selection.
function coverage(whole: Tree, tree: Tree, span: Span): string {
  if (tree.during && tree.graph.combine === "instant") {
    const at = tree.during.to;
    return `As it was ${seconds(at)} into the run${at < span.from || at > span.to ? ", the recorded instant nearest to the selection" : ""}. `;
  }
  const what = whole.graph.combine === "means" ? "trace" : "profile";
  if (tree.during) return `From the ${what}s of ${spanText(tree.during)}${what === "trace" ? "; the goroutines that requests waited for are not divided by time" : ""}. `;
  return whole.divisible ? `No ${what} was taken in the selection; this is the whole run. ` : "Not divided by time: this covers the whole run. ";
}

// FlameGraph is one graph with what one can ask of it.
export function FlameGraph({ tree, module, run, remarks, follows = "" }: { tree: Tree; module: string; run: string; remarks: Remark[]; follows?: string }) {
  const { graph, names } = tree;
  const [column, setColumn] = useState(0);
  const [inverted, setInverted] = useState(false);
  const [lines, setLines] = useState(false);
  const [query, setQuery] = useState("");
  const [sandwich, setSandwich] = useState(-1); // function
  const [chosen, setChosen] = useState(-1);
  const unit = graph.columns[column]!.unit;
  const whole = tree.totals[column]![0]!;
  const found = useMemo(() => search(tree, query, column), [tree, query, column]);
  const matches = useMemo(() => (found ? (box: Box) => found.functions.has(tree.fn[box.node]!) : null), [found]);
  const callees = useMemo(() => {
    if (sandwich < 0) return new Boxes(tree, { column, other: -1, lines, inverted });
    return new Boxes(tree, { column, other: -1, lines, inverted: false }, tree.outermost((n) => tree.fn[n] === sandwich));
  }, [tree, column, lines, inverted, sandwich]);
  const callers = useMemo(() => (sandwich < 0 ? null
    : new Boxes(tree, { column, other: -1, lines, inverted: true }, tree.outermost((n) => tree.fn[n] === sandwich))), [tree, column, lines, sandwich]);
  const drawing = useMemo(() => (boxes: Boxes): Drawing => ({
    boxes, module, matches, change: () => null,
    described: `Flame graph of ${graph.title}, ${value(whole, unit)} in all.`,
    label: (box) => labelOf(tree, box, graph.title),
    card: (box) => cardOf(tree, box, boxes, unit, whole, graph.title),
    onChoose: (box) => setChosen(box.key < 0 ? -1 : tree.fn[box.node]!),
  }), [tree, matches, module, unit, whole]);
  const main = useMemo(() => drawing(callees), [drawing, callees]);
  const over = useMemo(() => (callers ? drawing(callers) : null), [drawing, callers]);
  return (
    <div class="card flame-graph" data-graph={graph.id} data-unpacked={tree.unpacked.toFixed(1)}>
      <div class="flame-tools">
        <label class="flame-search"><span class="vh">Search functions</span>
          <input type="search" placeholder="Search functions" title="A part of a name, or a /regular expression/" value={query} onInput={(e) => setQuery((e.currentTarget as HTMLInputElement).value)} />
        </label>
        <span class="flame-found" aria-live="polite">{found && (found.functions.size === 0 ? "no match" : `${percent(found.total / (whole || 1))} in ${found.functions.size} function${found.functions.size === 1 ? "" : "s"}`)}</span>
        {graph.columns.length > 1 && (
          <label>Width <select value={column} onChange={(e) => setColumn(Number((e.currentTarget as HTMLSelectElement).value))}>
            {graph.columns.map((c, i) => <option key={i} value={i}>{c.name}</option>)}
          </select></label>
        )}
        <label><input type="checkbox" checked={inverted} disabled={sandwich >= 0} onChange={() => setInverted(!inverted)} /> inverted</label>
        <label><input type="checkbox" checked={lines} onChange={() => setLines(!lines)} /> split by line</label>
        <button type="button" onClick={() => void download(`${run}-${graph.id}.pb.gz`, profile(tree, column))}>Download pprof</button>
      </div>
      <p class="note">{follows && <b class="covers">{follows}</b>}{value(whole, unit)}, {graph.columns[column]!.name}. {!(tree.during && graph.combine === "instant") && graph.note}</p>
      {sandwich >= 0 && (
        <div class="flame-sandwich">
          <p><b><Name text={names.name[sandwich]!} /></b>: its callers above, its callees below.
            <button type="button" onClick={() => setSandwich(-1)}>Back to the whole graph</button></p>
          {over && over.boxes.below(over.boxes.root).length > 0 ? <FlameCanvas drawing={over} /> : <p class="note">Nothing calls it.</p>}
        </div>
      )}
      <FlameCanvas drawing={main} />
      <Legend tree={tree} />
      {chosen >= 0 && <Chosen tree={tree} fn={chosen} column={column} remarks={remarks} onSandwich={sandwich === chosen ? null : () => setSandwich(chosen)} />}
      <FunctionTable tree={tree} column={column} found={found?.functions ?? null} onChoose={(fn) => { setSandwich(fn); setChosen(fn); }} />
    </div>
  );
}

function Legend({ tree }: { tree: Tree }) {
  if (tree.graph.id === "requests") {
    const states = new Set<string>();
    for (let i = 1; i < tree.size; i = tree.end[i]!) states.add(tree.names.name[tree.fn[i]!]!);
    return <ul class="state-key">{[...states].map((s) => <li key={s}><i class={"swatch " + stateClass(s)} />{s}</li>)}</ul>;
  }
  return <ul class="state-key">{owners.map(([owner, name]) => <li key={owner}><i class={"swatch owner-" + owner} />{name}</li>)}</ul>;
}

interface Found { functions: Set<number>; total: number }

// search returns the functions whose name or file holds a text, and what they cost together.
function search(tree: Tree, query: string, column: number): Found | null {
  const text = query.trim();
  if (text === "") return null;
  let test = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
    try {
      const expression = new RegExp(text.slice(1, -1), "i");
      test = (name) => expression.test(name);
    } catch {
      return { functions: new Set(), total: 0 }; // not finished being typed
    }
  }
  const functions = new Set<number>();
  const there = new Set(tree.fn.filter((_, n) => tree.totals[column]![n]! > 0)); // at this time, of this kind
  for (const fn of there) if (fn >= 0 && (test(tree.names.name[fn]!) || test(tree.names.file[fn]!))) functions.add(fn);
  const total = tree.outermost((n) => functions.has(tree.fn[n]!)).reduce((sum, n) => sum + tree.totals[column]![n]!, 0);
  return { functions, total };
}

// shortName drops the directories of a function's import path.
export function shortName(name: string): string {
  const bracket = name.search(/[[( ]/);
  const slash = (bracket < 0 ? name : name.slice(0, bracket)).lastIndexOf("/");
  return name.slice(slash + 1);
}

export function labelOf(tree: Tree, box: Box, title: string): string {
  if (box.key < 0) return title;
  const name = shortName(tree.names.name[tree.fn[box.node]!]!);
  return name;
}

export function cardOf(tree: Tree, box: Box, boxes: Boxes, unit: string, whole: number, title: string): string[] {
  const share = (v: number) => `${value(v, unit)} (${percent(v / (whole || 1))})`;
  if (box.key < 0) return [title, `${value(box.total, unit)} in all`];
  const { names } = tree;
  const fn = tree.fn[box.node]!;
  const file = names.file[fn]!;
  const out = [names.name[fn]!];
  if (file) out.push(shortFile(file, boxes.choice.lines ? names.line(tree.frame[box.node]!) : 0));
  out.push(`total ${share(box.total)}`);
  if (!boxes.choice.inverted) out.push(`self ${share(box.self)}`);
  if (box.above && box.above.key >= 0) out.push(`${percent(box.total / (box.above.total || 1))} of ${boxes.choice.inverted ? "what it called" : "its caller"}`);
  return out;
}

// Chosen describes the function that was clicked, line by line.
function Chosen({ tree, fn, column, remarks, onSandwich }: { tree: Tree; fn: number; column: number; remarks: Remark[]; onSandwich: (() => void) | null }) {
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [fn]);
  const { names } = tree;
  const lines = useMemo(() => linesOf(tree, fn, column), [tree, fn, column]);
  const unit = tree.graph.columns[column]!.unit;
  const whole = tree.totals[column]![0]! || 1;
  const shown = all ? lines : lines.slice(0, 6);
  const remarked = remarks.filter((r) => names.file[fn]!.endsWith(r.file) && lines.some((l) => l.line === r.line));
  return (
    <div class="flame-chosen">
      <p><Code text={names.name[fn]!} />{names.file[fn] && <span class="note"> {names.file[fn]}</span>} {onSandwich && <button type="button" onClick={onSandwich}>Callers and callees</button>}</p>
      {lines.some((l) => l.line > 0) && (
        <div class="scroll"><table>
          <thead><tr><th scope="col" class="num">line</th><th scope="col" class="num">self</th><th scope="col" class="num">total</th><th scope="col" class="num">share</th>{remarked.length > 0 && <th scope="col">the compiler's remarks</th>}</tr></thead>
          <tbody>{shown.map((l) => (
            <tr key={l.line}>
              <td class="num">{l.line}</td><td class="num">{l.self > 0 ? value(l.self, unit) : "–"}</td><td class="num">{value(l.total, unit)}</td><td class="num">{percent(l.total / whole)}</td>
              {remarked.length > 0 && <td>{remarked.filter((r) => r.line === l.line).map((r, i) => <div key={i}>{r.text}</div>)}</td>}
            </tr>
          ))}</tbody>
        </table></div>
      )}
      {lines.length > 6 && <button type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${lines.length} lines`}</button>}
    </div>
  );
}

interface LineCost { line: number; self: number; total: number }

function linesOf(tree: Tree, fn: number, column: number): LineCost[] {
  const lines = new Map<number, LineCost>();
  for (let i = 1; i < tree.size; i++) {
    if (tree.fn[i] !== fn) continue;
    const line = tree.names.line(tree.frame[i]!);
    let cost = lines.get(line);
    if (!cost) lines.set(line, (cost = { line, self: 0, total: 0 }));
    cost.self += tree.self(i, column);
    let recursive = false;
    for (let p = tree.parent[i]!; p > 0 && !recursive; p = tree.parent[p]!) recursive = tree.frame[p] === tree.frame[i];
    if (!recursive) cost.total += tree.totals[column]![i]!;
  }
  return [...lines.values()].filter((l) => l.total > 0).sort((a, b) => b.total - a.total);
}
