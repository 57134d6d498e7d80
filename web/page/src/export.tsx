import { Fragment } from "preact";

// Cell is one value of a table: numbers in the unit that the column names.
export type Cell = string | number | null | undefined;
export interface Table { columns: string[]; rows: Cell[][] }

// save hands bytes to the browser as a file.
export function save(name: string, parts: BlobPart[], type: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// csv writes a table by RFC 4180. Spreadsheets run what begins like a formula; an apostrophe
// makes it text.
export function csv(table: Table): string {
  const field = (v: Cell): string => {
    if (v == null) return "";
    if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
    const text = /^[=+\-@\t\r]/.test(v) ? "'" + v : v;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [table.columns, ...table.rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

// json writes a table as a list of objects.
export function json(table: Table): string {
  return JSON.stringify(table.rows.map((row) => Object.fromEntries(table.columns.map((c, i) => [c, row[i] ?? null]))), null, 1) + "\n";
}

// Downloads offers the figures behind something that the page shows. The table is made when it is asked for.
export function Downloads({ name, what, table }: { name: string; what: string; table: () => Table }) {
  const forms = [["CSV", csv, "text/csv"], ["JSON", json, "application/json"]] as const;
  return (
    <span class="downloads">
      {forms.map(([form, write, type], i) => (
        <Fragment key={form}>
          {i > 0 && " "}
          <button type="button" aria-label={`${what} as ${form}`} onClick={() => save(`${name}.${form.toLowerCase()}`, [write(table())], type)}>{form}</button>
        </Fragment>
      ))}
    </span>
  );
}
