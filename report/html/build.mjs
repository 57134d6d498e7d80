// Builds the page's script and style into dist, or into the folder given as
// argument. The output depends on the sources and package-lock.json alone, so
// that a test can compare it with what is committed.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import path from "node:path";

const here = path.dirname(fileURLToPath(import.meta.url));

await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: process.argv[2] ?? path.join(here, "dist"),
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "ascii",
  banner: { js: "/* uPlot 1.6.32, (c) 2025 Leon Sorokin, MIT; Preact 11.2.0, (c) 2015-present Jason Miller, MIT */" },
  legalComments: "none",
  logLevel: "warning",
});
