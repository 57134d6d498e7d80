// Feeds the live page's store with a long run and prints what it keeps, as JSON.
// Usage: node lines.mjs WINDOWS
//
// It asserts nothing: web/live/browser_test.go compares.
import { build } from "esbuild";

const { outputFiles: [file] } = await build({ entryPoints: [new URL("../src/live-run.ts", import.meta.url).pathname], bundle: true, write: false, format: "esm", target: ["es2022"] });
const { Lines } = await import("data:text/javascript;base64," + Buffer.from(file.contents).toString("base64"));
const windows = Number(process.argv[2]);
const lines = new Lines();
const layout = [{ id: "throughput", group: "load", title: "", note: "", unit: "1/s", stack: false, log: false, heat: true, lines: [{ label: "sent", tone: "0", apart: false, order: 0 }] }];
const nothing = { seconds: 0, requests: 0, errors: 0, rate: 0, latency_ns: {} };
lines.reset({ window_ns: 1e8, heat_width: 0.5, per_decade: 12, charts: layout, windows: { from: 0, n: 0, lines: [], heat: null, now: null, so_far: nothing } });
for (let w = 0; w < windows; w++) lines.add({ from: Math.max(0, w - 2), n: Math.min(w, 2) + 1, lines: [[0, 0, w < 2 ? Array(w + 1).fill(w) : [w - 2, w - 1, w]]], heat: [[Math.floor(w / 5), 80, w]], now: null, so_far: nothing });
const kept = { first: lines.first, length: lines.length, missed: lines.missed };
const minute = lines.axis(600), all = lines.axis(6000);
const heat = { edges: [], per_decade: 0, row: 0, rows: 0, cells: [] };
lines.heatOver(all, heat);
const values = lines.chart("throughput", all).lines[0].values;
lines.add({ from: windows + 3, n: 1, lines: [], heat: null, now: null, so_far: nothing });
console.log(JSON.stringify({ ...kept, minute, all, last: lines.chart("throughput", minute).lines[0].values.at(-1), first_of_all: values[0], points: values.length, columns: heat.edges.length / 2, gap: lines.missed }));
