// The data of a run's page, as web/rundata/data.go writes it: gzipped JSON in base64
// inside a script element that no browser runs.

import type { FlameSet } from "./flame/tree";
import type { Remark } from "./flame/section";
import type { PackedLatencies } from "./latencies";
import type { Threshold } from "./thresholds";

export interface Page {
  schema: string;
  headline: Headline;
  summary: Summary;
  weights: string[] | null;
  places: string[] | null;
  run: Run;
  anatomy: Anatomy | null;
  slowest: SlowRequest[] | null;
  axis: Axis;
  charts: Chart[] | null;
  others: OtherSeries[] | null;
  others_axis: Axis | null;
  heat: Heat | null;
  spectrum: Spectrum[] | null;
  latencies: PackedLatencies | null;
  activity: Activity | null;
  thresholds: Threshold[] | null;
  basis: Basis[][] | null;
  spans: MarkedSpan[] | null;
  slow: RecordedRequest[] | null;
  statements: Statements | null;
  flames: FlameSet | null;
  remarks: Remark[] | null;
  missing: string[] | null;
  later?: Later[]; // what stands behind the script: elements of these names, each some of the fields above
}

export type Later = "latencies" | "charts" | "flames" | "others";

export interface Headline { invalid: string; state: string; title: string; lead: string; found: boolean; path?: string[]; shares?: string[]; ledger?: string[] }

export interface Summary {
  run: string;
  state: string;
  load: Load;
  generator: { cpu_ns: number; requests_per_cpu_s: number; valid: boolean; why_invalid: string[] | null };
  sources: Source[] | null;
  findings: Finding[] | null;
  not_judged: { cause: string; why: string }[] | null;
  overhead?: { estimate: number; low: number; high: number; confidence: number; pairs: number };
  warnings: string[] | null;
}

export interface Load {
  model: string;
  connections: number;
  duration_ns: number;
  requests: number;
  errors: number;
  rate: number;
  intended_rate: number;
  latency_ns: Quantiles;
  service_ns: Quantiles;
  first_byte_ns: Quantiles;
  lag_ns: Quantiles;
  error_latency_ns: Quantiles;
  status: Record<string, number> | null;
  error_kinds: Record<string, number> | null;
  failures?: Failure[];
  bytes_in: number;
  bytes_out: number;
  in_flight_at_end: number;
  steps?: { name: string; requests: number; errors: number; latency_ns: Quantiles }[];
  checks?: { request: string; name: string; passed: number; failed: number }[];
}

// Failure counts errors of one request that say the same; see record/summary.go.
export interface Failure { kind: string; text: string; request?: string; count: number; first_ns: number; last_ns: number }

export interface Quantiles { min: number; mean: number; p50: number; p90: number; p95: number; p99: number; p99_9: number; max: number; unfinished?: number; at_least_from?: number }

export interface Finding {
  cause: string;
  title: string;
  share: number;
  share_of: string;
  where: { function: string; file: string; line: number; sql: string; detail: string };
  evidence: { text: string; source: string; value: number; unit: string }[] | null;
  remedy: string;
  gain_ceiling: number;
  confidence: string;
  rejected: { cause: string; why: string }[] | null;
}

export interface Source {
  name: string;
  ok: boolean;
  why: string;
  samples: number;
  align_error_ns: { p50: number; p99: number };
  cpu_ns: number;
}

export interface Run {
  id: string;
  state: string;
  why?: string;
  redline: string;
  clock: { epoch_wall: string };
  window_ns: number;
  steady: { from_ns: number; to_ns: number };
  scenario: unknown;
  host: { os: string; arch: string; kernel: string; cpu_model: string; cpus: number; memory_bytes: number };
  target: Target;
  warnings: string[] | null;
}

export interface Target {
  how: string;
  url: string;
  command?: string[];
  pid?: number;
  go_version?: string;
  module?: string;
  main_package?: string;
  modules?: string[];
  revision?: string;
  gomaxprocs?: number;
  probe: boolean;
  exit?: { at_ns: number; status: string; stderr_tail: string[] | null };
}

export interface Anatomy {
  requests: number;
  cut: number;
  merged: number;
  coverage: number;
  traced_ns: number;
  mean_ns: number;
  median_ns: number;
  tail_ns: number;
  all: Part[];
  median: Part[];
  tail: Part[];
  during?: During[];
  named?: Named[];
  slowest: Timeline[];
  served?: { server: string; requests: number; cut: number }[];
  cpu?: CPUProfile;
  align_error_ns: { p50: number; p99: number };
  warnings: string[];
}

export interface Part { state: string; site: string; ns: number; share: number; times: number; stack?: Frame[]; behind?: Chain[] }
// During is what one trace has of the parts in all; see record/breakdown/during.go.
export interface During { from_ns: number; to_ns: number; requests: number; mean_ns: number; median_ns: number; tail_ns: number; all: Piece[]; median: Piece[]; tail: Piece[] }
// Named is what the marked requests of one name of a mix did; see record/breakdown/during.go.
export interface Named { name: string; requests: number; mean_ns: number; median_ns: number; tail_ns: number; all: Piece[]; median: Piece[]; tail: Piece[] }
export interface Piece { part: number; ns: number; times: number }
export interface Chain { ns: number; links: Link[] }
export interface Link { goroutine: string; request?: boolean; state: string; site: string }
export interface CPUProfile { median: number; tail: number; functions: { function: string; caller: string; median: number; tail: number }[] }
export interface Frame { function: string; file: string; line: number }
export interface Timeline { from_ns: number; to_ns: number; goroutine: number; id?: string; segments: Segment[] }
export interface Segment { state: string; site: string; from_ns: number; ns: number }

// Activity is what each statement did in equal spans of the run.
export interface Activity { from: number; step: number; calls: Values[]; time_ns: Values[]; rows: Values[] }
// Basis is a span that a finding's evidence is from.
export interface Basis { source: string; from: number; to: number }

// SlowRequest is one slow request in words; see diagnose/slowest.
export interface SlowRequest {
  name?: string;
  id?: string;
  begin_ns: number;
  took_ns: number;
  latency_ns?: number;
  lead: string;
  steps: Step[] | null;
  meanwhile: string[] | null;
  spans?: string[];
}
export interface Step { at_ns: number; took_ns: number; times: number; state: string; text: string; for?: string; place?: string; share: number; rest?: boolean }

export interface Axis { from: number; step: number; points: number; windows: number }
export type Values = (number | null)[];
export interface Line { label: string; tone: string; values: Values; low?: Values; high?: Values; apart?: boolean }
export interface Chart {
  id: string;
  group: string;
  title: string;
  note: string;
  unit: string;
  stack: boolean;
  log: boolean;
  heat: boolean;
  lines: Line[];
}
export interface OtherSeries extends Line { name: string; labels: string; unit: string }
export interface Heat { edges: number[]; per_decade: number; row: number; rows: number; cells: number[] }
export interface Spectrum { kind: string; tail: number[]; values: number[] }
export interface MarkedSpan { kind: string; from: number; to: number; text?: string }
// RecordedRequest is one of the slowest as the load recorded it; see record/run.go.
export interface RecordedRequest {
  intended_ns: number;
  sent_ns: number;
  first_byte_ns: number;
  done_ns: number;
  request: string;
  connection: number;
  status: number;
  error?: string;
}
export interface Statements {
  database: string;
  server: string;
  statements: { queryid: string; text: string; calls: number; time_ns: number; rows: number; plan?: unknown; plan_error?: string }[];
}

// unpack decodes an element of the page without asking the network, not even for a data
// URL, which the content security policy would refuse.
export async function unpack(id: string): Promise<string> {
  const packed = atob(document.getElementById(id)?.textContent ?? "");
  const bytes = new Uint8Array(packed.length); // a loop: Uint8Array.from takes twenty times as long
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// read decodes what the page needs at once.
export async function read<T>(): Promise<T> {
  return JSON.parse(await unpack("data")) as T;
}
