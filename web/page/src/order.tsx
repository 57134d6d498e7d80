import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

// num is what columns of figures are.
export const num = { class: "num" };

interface More { class?: string; title?: string }
type Figures<T> = Record<string, (row: T) => number | string>;

// useOrder lets a reader sort a table by any of its columns: figures from the largest, texts from A. Until somebody does,
// rows have the order they come in.
export function useOrder<T>(rows: T[], columns: Figures<T>): { ordered: T[]; head: (key: string, name: string, more?: More, mark?: JSX.Element) => JSX.Element } {
  const [by, setBy] = useState<{ key: string; down: boolean } | null>(null);
  const ordered = useMemo(() => {
    const of = by && columns[by.key];
    if (!of) return rows;
    return [...rows].sort((a, b) => {
      const [x, y] = [of(a), of(b)];
      const order = typeof x === "string" ? x.localeCompare(y as string) : x - (y as number);
      return by.down ? -order : order;
    });
  }, [rows, by]);
  const pick = (key: string) => {
    const text = rows.length > 0 && typeof columns[key]!(rows[0]!) === "string";
    setBy({ key, down: by?.key === key ? !by.down : !text });
  };
  const head = (key: string, name: string, more: More = {}, mark?: JSX.Element) => (
    <th scope="col" key={key} {...more} aria-sort={by?.key !== key ? "none" : by.down ? "descending" : "ascending"}>
      <button type="button" class="plain-button" onClick={() => pick(key)}>{mark}{name}{by?.key === key ? (by.down ? " ▾" : " ▴") : ""}</button>
    </th>
  );
  return { ordered, head };
}
