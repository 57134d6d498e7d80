// What is drawn of a tree: boxes, whose callees (or callers) are made when they are first
// looked at, so that a graph of a million nodes is on the screen at once.

import type { Tree } from "./tree";

export interface Box {
  key: number; // function, or frame where lines are apart; -1 is the root
  node: number; // one of the tree's nodes that it stands for
  total: number; // of the column that sets the widths
  other: number; // of the second column, where two are compared
  self: number;
  depth: number;
  above: Box | null;
  members: number[]; // the tree's nodes that it sums
  weights: Float64Array[] | null; // what of each of them counts; null is all
  below: Box[] | null; // null until asked
}

export interface Choice { column: number; other: number; lines: boolean; inverted: boolean }

export class Boxes {
  readonly root: Box;
  private readonly key: Int32Array;

  // from are the nodes to begin at: the root's, or all of one function.
  constructor(readonly tree: Tree, readonly choice: Choice, from?: number[]) {
    this.key = choice.lines ? tree.frame : tree.fn;
    const columns = [choice.column, choice.other].filter((c) => c >= 0);
    let weights: Float64Array[] | null = null;
    let members = from ?? [0];
    if (choice.inverted && !from) {
      members = [];
      for (let i = 1; i < tree.size; i++) if (columns.some((c) => tree.self(i, c) > 0)) members.push(i);
      weights = columns.map((c) => Float64Array.from(members, (m) => tree.self(m, c)));
    } else if (choice.inverted) {
      weights = columns.map((c) => Float64Array.from(members, (m) => tree.totals[c]![m]!));
    }
    this.root = { key: from ? this.key[from[0]!]! : -1, node: from ? from[0]! : 0, total: 0, other: 0, self: 0, depth: 0, above: null, members, weights, below: null };
    this.sum(this.root);
    // An inverted graph begins with the functions themselves, not with their callers.
    if (choice.inverted && !from) this.root.below = this.grouped(this.root, members, members, weights);
  }

  // below returns the boxes under one, the largest first.
  below(box: Box): Box[] {
    if (box.below) return box.below;
    const { tree } = this;
    if (!this.choice.inverted) {
      const callees: number[] = [];
      for (const m of box.members) for (let c = m + 1; c < tree.end[m]!; c = tree.end[c]!) callees.push(c);
      return (box.below = this.grouped(box, callees, callees, null));
    }
    const at: number[] = [];
    const kept: number[] = [];
    box.members.forEach((m, i) => {
      const caller = tree.parent[m]!;
      if (caller > 0) {
        at.push(caller);
        kept.push(i);
      }
    });
    return (box.below = this.grouped(box, at, at, box.weights!.map((w) => Float64Array.from(kept, (i) => w[i]!))));
  }

  private grouped(above: Box, nodes: number[], by: number[], weights: Float64Array[] | null): Box[] {
    const groups = new Map<number, number[]>();
    for (let i = 0; i < nodes.length; i++) {
      const key = this.key[by[i]!]!;
      const group = groups.get(key);
      if (group) group.push(i);
      else groups.set(key, [i]);
    }
    const boxes: Box[] = [];
    for (const [key, at] of groups) {
      const box: Box = {
        key, node: nodes[at[0]!]!, total: 0, other: 0, self: 0, depth: above.depth + 1, above, members: at.map((i) => nodes[i]!),
        weights: weights?.map((w) => Float64Array.from(at, (i) => w[i]!)) ?? null, below: null,
      };
      this.sum(box);
      if (box.total > 0) boxes.push(box);
    }
    return boxes.sort((a, b) => b.total - a.total);
  }

  private sum(box: Box) {
    const { tree, choice } = this;
    box.members.forEach((m, i) => {
      box.total += box.weights ? box.weights[0]![i]! : tree.totals[choice.column]![m]!;
      if (choice.other >= 0) box.other += box.weights ? box.weights[1]![i]! : tree.totals[choice.other]![m]!;
      if (!choice.inverted) box.self += tree.self(m, choice.column);
    });
    if (choice.inverted) box.self = box.depth <= 1 ? box.total : 0;
  }
}
