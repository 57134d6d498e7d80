import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Box, Boxes } from "./boxes";
import { Palette } from "./colours";
import { Painter } from "./painter";
import { onWidth } from "../paper";
import { onThemeChange } from "../theme";

export interface Drawing {
  boxes: Boxes;
  module: string;
  described: string; // what the graph shows, for those who do not see it
  label: (box: Box) => string;
  card: (box: Box) => string[]; // what the hover card says, its first line a title
  matches: ((box: Box) => boolean) | null;
  change: (box: Box) => number | null; // where two runs are compared: -1 to 1; null elsewhere
  onChoose?: (box: Box) => void;
}

// FlameCanvas draws boxes: a click zooms, the pointer shows a card, arrow keys walk.
export function FlameCanvas({ drawing }: { drawing: Drawing }) {
  const { boxes } = drawing;
  const canvas = useRef<HTMLCanvasElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter | null>(null);
  const [width, setWidth] = useState(0);
  const [scheme, setScheme] = useState(0);
  const [focus, setFocus] = useState(boxes.root);
  const [chosen, setChosen] = useState<Box | null>(null);
  const [read, setRead] = useState("");
  const shown = within(focus, boxes.root) ? focus : boxes.root;
  const selected = chosen && within(chosen, boxes.root) ? chosen : null;

  useLayoutEffect(() => {
    const still = onWidth(host.current!, setWidth);
    setWidth(Math.floor(host.current!.clientWidth));
    const stop = onThemeChange(() => setScheme((n) => n + 1));
    return () => { still(); stop(); };
  }, []);
  useLayoutEffect(() => {
    if (width === 0) return;
    const begun = performance.now();
    painter.current ??= new Painter(canvas.current!);
    painter.current.paint(boxes, shown, width, new Palette(boxes.tree, drawing.module, drawing.change), drawing.label, drawing.matches, selected);
    // The browser's tests read how long it took.
    canvas.current!.dataset.painted = (performance.now() - begun).toFixed(1);
  }, [drawing, width, scheme, shown, selected]);

  const boxAt = (e: MouseEvent) => {
    const at = canvas.current!.getBoundingClientRect();
    return painter.current?.at(e.clientX - at.left, e.clientY - at.top) ?? null;
  };
  const choose = (box: Box | null) => {
    setChosen(box);
    if (!box) return;
    setRead(drawing.card(box).join(", "));
    drawing.onChoose?.(box);
  };
  const zoom = (box: Box) => {
    setFocus(box);
    choose(box === boxes.root ? null : box);
  };
  const hover = (e: PointerEvent) => {
    const box = boxAt(e);
    const tip = card.current!;
    tip.hidden = !box;
    if (!box) return;
    tip.replaceChildren(...drawing.card(box).map((text, i) => {
      const line = document.createElement(i === 0 ? "b" : "div");
      line.textContent = text;
      return line;
    }));
    tip.style.left = `${Math.max(8, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 12 : e.clientY + 18}px`;
  };
  const key = (e: KeyboardEvent) => {
    const at = selected ?? shown;
    const siblings = at.above && at !== boxes.root ? boxes.below(at.above) : [at];
    const step = (by: number) => siblings[siblings.indexOf(at) + by] ?? at;
    const next: Box | undefined = {
      ArrowDown: boxes.below(at)[0], ArrowUp: at.above ?? undefined, ArrowRight: step(1), ArrowLeft: step(-1),
    }[e.key];
    if (next) choose(next);
    else if (e.key === "Enter" && selected) zoom(selected);
    else if (e.key === "Escape" && (selected || shown !== boxes.root)) zoom(boxes.root);
    else return;
    e.preventDefault();
  };
  // A box that keys chose is brought into the scrolled part.
  useEffect(() => {
    const place = selected && painter.current?.where(selected);
    const scroll = host.current!;
    if (place && (place.y < scroll.scrollTop || place.y + 19 > scroll.scrollTop + scroll.clientHeight)) scroll.scrollTop = place.y - scroll.clientHeight / 2;
  }, [selected]);
  return (
    <div class="flame">
      <div class="flame-scroll" ref={host} onScroll={() => { card.current!.hidden = true; }}>
        <canvas ref={canvas} tabIndex={0} role="application" aria-label={drawing.described + " Arrow keys walk, Enter zooms, Escape shows all."}
          onPointerMove={hover} onPointerLeave={() => { card.current!.hidden = true; }} onKeyDown={key}
          onClick={(e) => { const box = boxAt(e); if (box) zoom(box); }} />
      </div>
      {shown !== boxes.root && <button type="button" class="flame-reset" onClick={() => zoom(boxes.root)}>Show all</button>}
      <div class="tooltip flame-card" ref={card} role="tooltip" hidden />
      <p class="vh" aria-live="polite">{read}</p>
    </div>
  );
}

function within(box: Box, root: Box): boolean {
  for (let b: Box | null = box; b; b = b.above) if (b === root) return true;
  return false;
}
