// Flame graphs as web/flame/set.go writes them, unpacked into arrays: node 0 is the root,
// and the callees of a node follow it (preorder).

import { covering, type Span } from "../selection";

export interface FlameSet { strings: string[] | null; functions: number[] | null; frames: number[] | null; graphs: PackedGraph[] | null }
export interface PackedGraph { id: string; title: string; note?: string; first: number; up: number[]; frame: number[]; columns: Column[]; combine?: "means" | "instant"; noise?: { each: [number, number]; share: number } }
export interface Column { name: string; unit: string; self: number[]; scale?: number; parts?: Part[] }
// Part is what a span of time has of a column; see web/flame/spans.go.
export interface Part { from: number; to: number; weight?: number; node: number[] | null; self: number[] | null }

// Names resolves the functions and frames that all graphs of a page share.
export class Names {
  readonly name: string[] = [];
  readonly file: string[] = [];
  constructor(readonly set: FlameSet) {
    const strings = set.strings ?? [];
    const functions = set.functions ?? [];
    for (let i = 0; i < functions.length; i += 2) {
      this.name.push(strings[functions[i]!] ?? "");
      this.file.push(strings[functions[i + 1]!] ?? "");
    }
  }
  fn(frame: number): number { return this.set.frames![2 * frame]!; }
  line(frame: number): number { return this.set.frames![2 * frame + 1]!; }
}

export class Tree {
  readonly size: number; // nodes, the root among them
  readonly parent: Int32Array;
  readonly frame: Int32Array; // of the root: -1
  readonly fn: Int32Array;
  readonly end: Int32Array; // one past the last node below
  readonly totals: Float64Array[]; // by column
  readonly during: Span | null = null; // what it covers, where that is less than all

  readonly unpacked: number; // ms that it took; the browser's tests read it

  constructor(readonly names: Names, readonly graph: PackedGraph) {
    const begun = performance.now();
    const n = graph.up.length + 1;
    this.size = n;
    this.parent = new Int32Array(n);
    this.frame = new Int32Array(n).fill(-1);
    this.fn = new Int32Array(n).fill(-1);
    this.end = new Int32Array(n);
    let next = graph.first;
    let before = 0;
    for (let i = 1; i < n; i++) {
      let caller = before;
      for (let up = graph.up[i - 1]!; up > 0; up--) caller = this.parent[caller]!;
      this.parent[i] = caller;
      before = i;
      const back = graph.frame[i - 1]!;
      const frame = next - back;
      if (back === 0) next++;
      this.frame[i] = frame;
      this.fn[i] = names.fn(frame);
    }
    this.totals = graph.columns.map((c) => this.sum(c));
    for (let i = n - 1; i >= 0; i--) {
      const end = Math.max(this.end[i]!, i + 1);
      this.end[i] = end;
      if (i > 0 && end > this.end[this.parent[i]!]!) this.end[this.parent[i]!] = end;
    }
    this.unpacked = performance.now() - begun;
  }

  // sum adds a column up from the callees to the root.
  private sum(c: Column): Float64Array {
    const total = new Float64Array(this.size);
    for (let i = this.size - 1; i > 0; i--) {
      const sum = total[i]! + c.self[i - 1]!;
      total[i] = sum;
      total[this.parent[i]!]! += sum;
    }
    if (c.scale) for (let i = 0; i < this.size; i++) total[i]! *= c.scale;
    return total;
  }

  // divisible says whether the graph can be looked at by time.
  get divisible(): boolean { return this.graph.columns.every((c) => (c.parts ?? []).length > 0); }

  // within is the graph of what was taken in a span for the most part, or of what meets it; of instants, the
  // last in it, or the one that is nearest. Null where there is none.
  within(span: Span): Tree | null {
    if (!this.divisible) return null;
    const parts = this.graph.columns[0]!.parts!;
    const means = this.graph.combine === "means";
    const chosen = this.graph.combine === "instant" ? [nearest(parts, span)] : covering(parts, span).filter((i) => !means || parts[i]!.weight! > 0);
    if (chosen.length === 0) return null;
    const weight = (i: number) => (means ? parts[i]!.weight! / chosen.reduce((sum, k) => sum + parts[k]!.weight!, 0) : 1);
    const columns = this.graph.columns.map((c): Column => {
      const self = new Array<number>(this.size - 1).fill(0);
      for (const i of chosen) {
        const part = c.parts![i]!;
        let at = 0;
        part.node?.forEach((by, k) => { self[at += by]! += part.self![k]! * weight(i); });
      }
      return { ...c, self };
    });
    const tree = Object.assign(Object.create(Tree.prototype) as Tree, this, { graph: { ...this.graph, columns }, during: { from: parts[chosen[0]!]!.from, to: parts[chosen.at(-1)!]!.to } });
    return Object.assign(tree, { totals: columns.map((c) => tree.sum(c)) });
  }

  self(node: number, column: number): number {
    const c = this.graph.columns[column]!;
    return node === 0 ? 0 : c.self[node - 1]! * (c.scale ?? 1);
  }

  // outermost returns the nodes that match and have no caller that does.
  outermost(matches: (node: number) => boolean): number[] {
    const found: number[] = [];
    for (let i = 1; i < this.size;) {
      if (matches(i)) {
        found.push(i);
        i = this.end[i]!;
      } else {
        i++;
      }
    }
    return found;
  }
}

// nearest is the last instant in a span, or the one that is nearest to it.
function nearest(parts: Part[], span: Span): number {
  const off = (p: Part) => (p.to > span.to ? p.to - span.to : p.to < span.from ? span.from - p.to : 0);
  return parts.reduce((best, p, i) => (off(p) <= off(parts[best]!) ? i : best), 0);
}

// Row is what one function costs: alone, and with what it calls.
export interface Row { fn: number; self: number; total: number }

// functions sums a column by function, recursion counted once.
export function functions(tree: Tree, column: number): Row[] {
  const rows = new Map<number, Row>();
  const open = new Map<number, number>(); // function -> the end of its outermost node
  const total = tree.totals[column]!;
  for (let i = 1; i < tree.size; i++) {
    const fn = tree.fn[i]!;
    let row = rows.get(fn);
    if (!row) rows.set(fn, (row = { fn, self: 0, total: 0 }));
    row.self += tree.self(i, column);
    if (i >= (open.get(fn) ?? 0)) {
      row.total += total[i]!;
      open.set(fn, tree.end[i]!);
    }
  }
  return [...rows.values()].filter((r) => r.total > 0);
}
