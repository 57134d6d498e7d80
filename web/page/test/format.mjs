// Prints the figures of notation/testdata/cases.json as the page writes them, as JSON.
// Usage: node format.mjs CASES
//
// It asserts nothing: web/figures_test.go compares.
import { build } from "esbuild";
import { readFileSync } from "node:fs";

const { outputFiles: [file] } = await build({ entryPoints: [new URL("../src/format.ts", import.meta.url).pathname], bundle: true, write: false, format: "esm", target: ["es2022"] });
const format = await import("data:text/javascript;base64," + Buffer.from(file.contents).toString("base64"));
const forms = { span: format.duration, size: format.size, rate: format.rate, percent: format.percent, change: format.change, figure: format.figure, short: format.short, count: format.count };
const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(cases.map(({ form, value }) => forms[form]?.(value ?? NaN) ?? null)));
