// A graph as a pprof profile, for go tool pprof:
// https://github.com/google/pprof/blob/main/proto/profile.proto

import { save } from "../export";
import type { Tree } from "./tree";

class Message {
  private bytes = new Uint8Array(128);
  private length = 0;
  private room(n: number) {
    if (this.length + n <= this.bytes.length) return;
    const wider = new Uint8Array(Math.max(2 * this.bytes.length, this.length + n));
    wider.set(this.bytes);
    this.bytes = wider;
  }
  private varint(v: number) {
    this.room(10);
    while (v >= 128) {
      this.bytes[this.length++] = (v % 128) + 128;
      v = Math.floor(v / 128);
    }
    this.bytes[this.length++] = v;
  }
  number(field: number, v: number) {
    if (v <= 0) return; // zero is the default; nothing here is negative
    this.varint(field * 8);
    this.varint(v);
  }
  data(field: number, v: Uint8Array) {
    this.varint(field * 8 + 2);
    this.varint(v.length);
    this.room(v.length);
    this.bytes.set(v, this.length);
    this.length += v.length;
  }
  text(field: number, v: string) { this.data(field, new TextEncoder().encode(v)); }
  message(field: number, fill: (m: Message) => void) {
    const m = new Message();
    fill(m);
    this.data(field, m.done());
  }
  packed(field: number, values: number[]) {
    const m = new Message();
    for (const v of values) m.varint(v);
    this.data(field, m.done());
  }
  done(): Uint8Array { return this.bytes.slice(0, this.length); }
}

const units: Record<string, string> = { ns: "nanoseconds", bytes: "bytes", "1": "count" };

// profile encodes a tree with all of its columns; pprof shows the one that is shown here first.
export function profile(tree: Tree, column: number): Uint8Array {
  const strings = new Map<string, number>([["", 0]]);
  const text = (s: string) => {
    const at = strings.get(s) ?? strings.size;
    strings.set(s, at);
    return at;
  };
  const out = new Message();
  for (const c of tree.graph.columns) {
    out.message(1, (m) => { m.number(1, text(c.name)); m.number(2, text(units[c.unit] ?? c.unit)); });
  }
  for (let i = 1; i < tree.size; i++) {
    const values = tree.graph.columns.map((_, c) => tree.self(i, c));
    if (values.every((v) => v <= 0)) continue;
    const locations: number[] = [];
    for (let n = i; n > 0; n = tree.parent[n]!) locations.push(tree.frame[n]! + 1);
    out.message(2, (m) => { m.packed(1, locations); m.packed(2, values.map((v) => Math.max(0, Math.round(v)))); });
  }
  const { names } = tree;
  const functions = new Set<number>();
  for (const frame of new Set(tree.frame)) {
    if (frame < 0) continue;
    functions.add(names.fn(frame));
    out.message(4, (m) => {
      m.number(1, frame + 1);
      m.message(4, (l) => { l.number(1, names.fn(frame) + 1); l.number(2, names.line(frame)); });
    });
  }
  for (const fn of functions) {
    out.message(5, (m) => { m.number(1, fn + 1); m.number(2, text(names.name[fn]!)); m.number(3, text(names.name[fn]!)); m.number(4, text(names.file[fn]!)); });
  }
  out.number(14, text(tree.graph.columns[column]!.name)); // default_sample_type
  for (const s of strings.keys()) out.text(6, s);
  return out.done();
}

// download saves bytes as a gzipped file.
export async function download(name: string, bytes: Uint8Array) {
  const zipped = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("gzip"));
  save(name, [await new Response(zipped).blob()], "application/gzip");
}
