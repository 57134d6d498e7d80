// Builds the pages' scripts and their style into dist, or into the folder given as
// argument. The output depends on the sources and package-lock.json alone, so
// that a test can compare it with what is committed.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { readFileSync, renameSync, rmSync } from "node:fs";

const here = path.dirname(fileURLToPath(import.meta.url));

// The MIT licence asks that its text goes with every copy.
const licences = ["uplot", "preact"]
  .map((name) => `/*! ${name}\n${readFileSync(path.join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n*/`)
  .join("\n");

await build({
  absWorkingDir: here,
  entryPoints: {
    report: "src/report-page.tsx", live: "src/live.tsx", shelf: "src/shelf.tsx", compare: "src/compare.tsx",
    decision: "src/decision.tsx", lab: "src/lab.tsx",
  },
  outdir: process.argv[2] ?? path.join(here, "dist"),
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "ascii",
  banner: { js: licences },
  legalComments: "none",
  logLevel: "warning",
});

// All pages import one style, which is kept once.
const out = process.argv[2] ?? path.join(here, "dist");
renameSync(path.join(out, "report.css"), path.join(out, "page.css"));
for (const name of ["live", "shelf", "compare", "decision", "lab"]) rmSync(path.join(out, name + ".css"));
