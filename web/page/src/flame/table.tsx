import { useMemo, useState } from "preact/hooks";
import { functions, type Row, type Tree } from "./tree";
import { VirtualRows } from "../rows";
import { Downloads } from "../export";
import { percent, value } from "../format";

type Key = "function" | "self" | "total";

// FunctionTable lists every function of a graph; a click opens its callers and callees.
export function FunctionTable({ tree, column, found, onChoose }: { tree: Tree; column: number; found: Set<number> | null; onChoose: (fn: number) => void }) {
  const [open, setOpen] = useState(false);
  const [by, setBy] = useState<Key>("self");
  const rows = useMemo(() => (open ? functions(tree, column) : []), [open, tree, column]);
  const shown = useMemo(() => rows.filter((r) => !found || found.has(r.fn)).sort((a, b) => (by === "function" ? tree.names.name[a.fn]!.localeCompare(tree.names.name[b.fn]!) : b[by] - a[by])), [rows, found, by]);
  const { unit } = tree.graph.columns[column]!;
  const whole = tree.totals[column]![0]! || 1;
  const head = (key: Key) => (
    <span role="columnheader" class={key === "function" ? "" : "num"} aria-sort={by !== key ? "none" : key === "function" ? "ascending" : "descending"}><button type="button" class="plain-button" onClick={() => setBy(key)}>{key}{by !== key ? "" : key === "function" ? " ▴" : " ▾"}</button></span>
  );
  return (
    <details onToggle={(e) => setOpen((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>Every function, as a table</summary>
      {open && <Downloads name={`${tree.graph.id}-functions`} what={`Functions of ${tree.graph.title}`} table={() => ({
        columns: ["function", "file", `self (${unit})`, `total (${unit})`], rows: shown.map((r) => [tree.names.name[r.fn], tree.names.file[r.fn], r.self, r.total]),
      })} />}
      {open && (
        <div role="table" aria-label="Functions" aria-rowcount={shown.length + 1} class="function-table">
          <div role="row" class="function-row head">{head("function")}{head("self")}<span class="num" role="columnheader">share</span>{head("total")}<span class="num" role="columnheader">share</span></div>
          <VirtualRows count={shown.length} height={26} row={(i) => {
            const r: Row = shown[i]!;
            return (
              <div role="row" aria-rowindex={i + 2} class="function-row" key={r.fn}>
                <span role="cell"><button type="button" class="plain-button" title={tree.names.name[r.fn]} onClick={() => onChoose(r.fn)}>{tree.names.name[r.fn]}</button></span>
                <span role="cell" class="num">{value(r.self, unit)}</span><span role="cell" class="num">{percent(r.self / whole)}</span>
                <span role="cell" class="num">{value(r.total, unit)}</span><span role="cell" class="num">{percent(r.total / whole)}</span>
              </div>
            );
          }} />
        </div>
      )}
    </details>
  );
}
