import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { usePaper } from "./paper";

// mostOnPaper is how many rows of a long list are printed.
const mostOnPaper = 200;

// VirtualRows renders of a long list only the rows that are in sight, all of one height; on paper the first ones.
export function VirtualRows({ count, height, row, most = 12 }: { count: number; height: number; row: (index: number) => ComponentChildren; most?: number }) {
  const host = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  if (usePaper()) {
    const printed = Math.min(count, mostOnPaper);
    return (
      <div class="virtual" role="rowgroup">
        {Array.from({ length: printed }, (_, i) => row(i))}
        {printed < count && <p class="note">The first {printed} of {count}; the page and its downloads have all.</p>}
      </div>
    );
  }
  const seen = Math.min(count, most);
  const first = Math.max(0, Math.min(Math.floor(top / height) - 4, count - seen));
  const last = Math.min(count, first + seen + 9);
  return (
    <div class="virtual" ref={host} tabIndex={0} role="rowgroup" style={{ maxHeight: `${seen * height}px` }} onScroll={() => setTop(host.current!.scrollTop)}>
      <div style={{ height: `${count * height}px`, paddingTop: `${first * height}px` }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, i) => row(first + i))}
      </div>
    </div>
  );
}
