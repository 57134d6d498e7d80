// Figures as package notation writes them in text; notation/testdata/cases.json holds both to it.

// odd is how what is no number is written, or "".
function odd(v: number): string {
  return Number.isNaN(v) ? "unknown" : v === Infinity ? "infinite" : v === -Infinity ? "-infinite" : "";
}

// fixed writes v with so many decimals; never "-0".
function fixed(v: number, decimals: number): string {
  const text = v.toFixed(decimals);
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

function three(v: number): string {
  const a = Math.abs(v);
  return fixed(v, a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

// grouped puts separators into the whole part of a decimal number.
function grouped(digits: string): string {
  return digits.replace(/^(-?)(\d+)/, (_, sign: string, whole: string) => sign + whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

// least is written of what is not zero and nearer to zero than bound.
function least(v: number, bound: string): string {
  return v < 0 ? "> -" + bound : "< " + bound;
}

export function duration(ns: number): string {
  if (odd(ns)) return odd(ns);
  if (ns <= -0.01) return "-" + duration(-ns);
  if (ns < 999.5) return (Number.isInteger(ns) ? String(ns) : figure(ns)) + " ns";
  if (ns < 999.5e3) return three(ns / 1e3) + " µs";
  if (ns < 999.5e6) return three(ns / 1e6) + " ms";
  if (ns < 99.95e9) return three(ns / 1e9) + " s";
  const s = Math.floor(ns / 1e9 + 0.5);
  const pad = (n: number) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)} min ${pad(s % 60)} s` : `${grouped(String(Math.floor(s / 3600)))} h ${pad(Math.floor((s % 3600) / 60))} min`;
}

export function count(n: number): string {
  return grouped(fixed(n, 0));
}

export function size(bytes: number): string {
  if (odd(bytes)) return odd(bytes);
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (Math.abs(bytes) >= 1023.5 && i < units.length - 1) {
    bytes /= 1024;
    i++;
  }
  const text = i === 0 ? fixed(bytes, 0) : three(bytes);
  return (i === units.length - 1 ? grouped(text) : text) + " " + units[i];
}

export function rate(v: number): string {
  if (odd(v)) return odd(v);
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 999.95) return grouped(fixed(v, 0));
  if (a >= 99.995) return fixed(v, 1);
  return a < 0.01 ? least(v, "0.01") : fixed(v, 2);
}

export function percent(share: number): string {
  const p = share * 100;
  const a = Math.abs(p);
  if (odd(p)) return odd(p);
  if (p === 0 || p === 100) return fixed(p, 0) + " %";
  if (a < 0.01) return least(p, "0.01") + " %";
  if (a < 0.995) return fixed(p, 2) + " %";
  if (a < 9.95) return fixed(p, 1) + " %";
  if (p > 99 && p < 100) return fixed(Math.floor(p * 10) / 10, 1) + " %";
  if (p > 100 && p < 101) return fixed(Math.ceil(p * 10) / 10, 1) + " %";
  return grouped(fixed(p, 0)) + " %";
}

// change writes a relative change with its sign.
export function change(relative: number): string {
  if (odd(relative)) return odd(relative);
  const p = 100 * relative;
  return (relative >= 0 ? "+" : "") + grouped(fixed(p, Math.abs(p) >= 99.95 ? 0 : 1)) + " %";
}

// figure writes a number without a unit.
export function figure(v: number): string {
  if (odd(v)) return odd(v);
  return v !== 0 && Math.abs(v) < 0.01 ? least(v, "0.01") : grouped(three(v));
}

// short writes a mean count or a number of CPUs: a figure without zeros at its end.
export function short(v: number): string {
  const text = figure(v);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

// atLeast writes a time of a histogram, with its sign where it is only a lower bound: 100 is the max, and
// the mean is bound when the max is.
export function atLeast(ns: number, of: { at_least_from?: number }, percentile: number): string {
  return (of.at_least_from && percentile >= of.at_least_from ? "≥ " : "") + duration(ns);
}

// value writes a figure of one of the charts' units.
export function value(v: number | null | undefined, unit: string): string {
  if (v == null || !Number.isFinite(v)) return "–";
  switch (unit) {
    case "ns": return duration(v);
    case "ns/s": return duration(v) + "/s";
    case "bytes": return size(v);
    case "bytes/s": return size(v) + "/s";
    case "1/s": return rate(v) + "/s";
    case "cpus": return short(v);
  }
  return Number.isInteger(v) ? count(v) : figure(v);
}

// tick writes a figure on an axis: as value, without digits that say nothing.
export function tick(v: number, unit: string): string {
  if (v === 0) return "0";
  const trimmed = (text: string) => text.replace(/(\.\d*?)0+(?=\s|$)/, "$1").replace(/\.(?=\s|$)/, "");
  if (unit === "cpus" || unit === "1" || unit === "1/s") {
    if (Math.abs(v) >= 1e6) return trimmed((v / 1e6).toFixed(2)) + "M";
    if (Math.abs(v) >= 1e4) return trimmed((v / 1e3).toFixed(1)) + "k";
    return v.toLocaleString("en-US", { maximumFractionDigits: 3 });
  }
  return trimmed(value(v, unit).replace("/s", ""));
}

export function shortFile(file: string, line: number): string {
  const name = file.split("/").slice(-2).join("/");
  return line > 0 ? `${name}:${line}` : name;
}
