// The latency log as web/rundata/latencies.go packs it, added up over any span.

import type { Quantiles } from "./data";
import type { Span } from "./selection";

export interface PackedLatencies {
  edges: number[];
  steps: string[];
  shift: number;
  parts: { kind: string; step: number; at: number[]; buckets: number[] }[];
}

interface Part { kind: string; step: number; at: number[]; buckets: Int32Array[]; counts: Float64Array[] }

// Counts is a histogram: buckets in order, with how many values each has.
export class Counts {
  readonly total: number;
  constructor(private readonly buckets: [bucket: number, count: number][], private readonly shift: number) {
    this.total = buckets.reduce((sum, [, n]) => sum + n, 0);
  }

  // high is the largest value of a bucket, low the least.
  private high(bucket: number): number { return lowest(((bucket + 1) << this.shift) - 1) + width(((bucket + 1) << this.shift) - 1) - 1; }
  private low(bucket: number): number { return lowest(bucket << this.shift); }

  // quantile is the upper end of the bucket that a percentile falls in, as package histogram has it.
  quantile(percentile: number): number {
    const rank = Math.min(Math.max(Math.floor((percentile / 100) * this.total + 0.5), 1), this.total);
    let seen = 0;
    for (const [bucket, n] of this.buckets) if ((seen += n) >= rank) return this.high(bucket);
    return 0;
  }

  quantiles(): Quantiles {
    const last = this.buckets.at(-1);
    const mean = this.buckets.reduce((sum, [b, n]) => sum + (n * (this.low(b) + this.high(b))) / 2, 0) / (this.total || 1);
    return {
      min: this.buckets.length > 0 ? this.low(this.buckets[0]![0]) : 0, mean: Math.floor(mean), max: last ? this.high(last[0]) : 0,
      p50: this.quantile(50), p90: this.quantile(90), p95: this.quantile(95), p99: this.quantile(99), p99_9: this.quantile(99.9),
    };
  }

  // spectrum is the percentile curve: values by 1/(1-q).
  spectrum(): { tail: number[]; values: number[] } {
    const out = { tail: [] as number[], values: [] as number[] };
    if (this.total === 0) return out;
    for (let tail = 1; tail <= this.total * 1.0001; tail *= 10 ** (1 / 16)) {
      out.tail.push(tail);
      out.values.push(this.quantile(100 * (1 - 1 / tail)));
    }
    out.tail.push(this.total);
    out.values.push(this.quantile(100));
    return out;
  }
}

// Buckets are numbered as package histogram numbers them: 2,048 of 64 ns, then 1,024 for each doubling.
function lowest(index: number): number {
  const doubled = (index >> 10) - 1;
  return doubled < 0 ? index * 64 : ((index & 1023) + 1024) * 2 ** (doubled + 6);
}
function width(index: number): number {
  return 64 * 2 ** Math.max((index >> 10) - 1, 0);
}

export class Latencies {
  private readonly parts: Part[];
  readonly exactness: number; // the width of a bucket over its value

  // judged is the span that the summary's figures are of.
  constructor(private readonly packed: PackedLatencies, private readonly judged: Span) {
    this.exactness = 2 ** packed.shift / 1024;
    this.parts = packed.parts.map((p) => {
      const part: Part = { kind: p.kind, step: p.step, at: p.at, buckets: [], counts: [] };
      let i = 0;
      for (let k = 0; k < p.at.length; k++) {
        const n = p.buckets[i++]!;
        const buckets = new Int32Array(n);
        const counts = new Float64Array(n);
        let bucket = 0;
        for (let j = 0; j < n; j++) {
          buckets[j] = bucket += p.buckets[i++]!;
          counts[j] = p.buckets[i++]!;
        }
        part.buckets.push(buckets);
        part.counts.push(counts);
      }
      return part;
    });
  }

  get steps(): string[] { return this.packed.steps; }

  // within lists the intervals of a span: those that have their middle in it, and of a span
  // between two middles the one that it lies in.
  private within(span: Span | null): number[] {
    const { edges } = this.packed;
    const all = Array.from({ length: edges.length / 2 }, (_, i) => i);
    if (!span) return all.filter((i) => edges[2 * i]! >= this.judged.from - 1e-9 && edges[2 * i]! < this.judged.to - 1e-9);
    const chosen = all.filter((i) => middle(edges, i) >= span.from && middle(edges, i) < span.to);
    if (chosen.length > 0) return chosen;
    const at = (span.from + span.to) / 2;
    return all.filter((i) => edges[2 * i]! <= at && at < edges[2 * i + 1]!);
  }

  // covered is what the figures of a span are really of; null where nothing was logged.
  covered(span: Span | null): Span | null {
    const at = this.within(span);
    return at.length === 0 ? null : { from: this.packed.edges[2 * at[0]!]!, to: this.packed.edges[2 * at.at(-1)! + 1]! };
  }

  counts(kind: string, span: Span | null, step = -1): Counts {
    const wanted = new Set(this.within(span));
    const sums = new Map<number, number>();
    for (const p of this.parts) {
      if (p.kind !== kind || (step >= 0 && p.step !== step)) continue;
      p.at.forEach((at, k) => {
        if (!wanted.has(at)) return;
        p.buckets[k]!.forEach((bucket, j) => sums.set(bucket, (sums.get(bucket) ?? 0) + p.counts[k]![j]!));
      });
    }
    return new Counts([...sums].sort((a, b) => a[0] - b[0]), this.packed.shift);
  }
}

function middle(edges: number[], i: number): number {
  return (edges[2 * i]! + edges[2 * i + 1]!) / 2;
}
