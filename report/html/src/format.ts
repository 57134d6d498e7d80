// Figures as report/notation writes them in the text summary.

function three(v: number): string {
  const a = Math.abs(v);
  return a >= 99.95 ? v.toFixed(0) : a >= 9.995 ? v.toFixed(1) : v.toFixed(2);
}

export function duration(ns: number): string {
  if (ns < 0) return "−" + duration(-ns);
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 999.5e3) return three(ns / 1e3) + " µs";
  if (ns < 999.5e6) return three(ns / 1e6) + " ms";
  if (ns < 100e9) return three(ns / 1e9) + " s";
  const s = Math.round(ns / 1e9);
  const pad = (n: number) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)} min ${pad(s % 60)} s` : `${Math.floor(s / 3600)} h ${pad(Math.floor((s % 3600) / 60))} min`;
}

export function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (Math.abs(bytes) >= 1023.5 && i < units.length - 1) {
    bytes /= 1024;
    i++;
  }
  return (i === 0 ? bytes.toFixed(0) : three(bytes)) + " " + units[i];
}

export function rate(v: number): string {
  return Math.abs(v) >= 1000 ? count(v) : v.toFixed(v !== 0 && Math.abs(v) < 100 ? 2 : 0);
}

export function percent(share: number): string {
  const p = share * 100;
  if (p === 0 || p === 100) return `${p} %`;
  if (p > 0 && p < 0.01) return "< 0.01 %";
  if (p < 1) return p.toFixed(2) + " %";
  if (p < 9.95) return p.toFixed(1) + " %";
  if (p > 99 && p < 100) return (Math.floor(p * 10) / 10).toFixed(1) + " %";
  return p.toFixed(0) + " %";
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
    case "cpus": return v.toFixed(2);
  }
  return Number.isInteger(v) ? count(v) : three(v);
}

// tick writes a figure on an axis: as value, without digits that say nothing.
export function tick(v: number, unit: string): string {
  if (v === 0) return "0";
  const short = (text: string) => text.replace(/(\.\d*?)0+(?=\s|$)/, "$1").replace(/\.(?=\s|$)/, "");
  if (unit === "cpus" || unit === "1" || unit === "1/s") {
    if (Math.abs(v) >= 1e6) return short((v / 1e6).toFixed(2)) + "M";
    if (Math.abs(v) >= 1e4) return short((v / 1e3).toFixed(1)) + "k";
    return v.toLocaleString("en-US", { maximumFractionDigits: 3 });
  }
  return short(value(v, unit).replace("/s", ""));
}

export function thresholdValue(expr: string, v: number | null): string {
  if (v == null) return "no data";
  const metric = expr.trim().split(/[\s<>=]/)[0];
  switch (metric) {
    case "errors": return percent(v);
    case "rate": return rate(v) + "/s";
    case "requests": return count(v);
  }
  return duration(v);
}

export function shortFile(file: string, line: number): string {
  const name = file.split("/").slice(-2).join("/");
  return line > 0 ? `${name}:${line}` : name;
}
