// Draws boxes on a canvas, and says which box is where.

import type { Box, Boxes } from "./boxes";
import type { Palette } from "./colours";

export const rowHeight = 19;
// narrow is how wide a box must be to be drawn alone, in CSS pixels. Narrower neighbours share
// a strip, in which the pointer still finds each.
const narrow = 0.5;
const font = "12px system-ui, sans-serif";

interface Placed { x: number; width: number; box: Box }
interface Strip { x: number; width: number; row: number; boxes: Box[]; total: number }

export class Painter {
  private rows: Placed[][] = [];
  private strips: Strip[] = [];
  private readonly ctx: CanvasRenderingContext2D;
  height = 0;

  constructor(readonly canvas: HTMLCanvasElement) { this.ctx = canvas.getContext("2d")!; }

  // paint draws the focus across the width, its callers above it.
  paint(boxes: Boxes, focus: Box, width: number, palette: Palette, label: (box: Box) => string, matches: ((box: Box) => boolean) | null, chosen: Box | null) {
    this.rows = [];
    const above: Box[] = [];
    for (let b = focus.above; b; b = b.above) above.unshift(b);
    for (const b of above) this.rows.push([{ x: 0, width, box: b }]);
    this.strips = [];
    const lay = (box: Box, x: number, row: number, w: number) => {
      (this.rows[row] ??= []).push({ x, width: w, box });
      let at = x;
      const callees = boxes.below(box);
      const own = box.total || 1;
      for (let i = 0; i < callees.length; i++) {
        const callee = callees[i]!;
        const cw = (callee.total / own) * w;
        if (cw < narrow) {
          const rest = callees.slice(i);
          const total = rest.reduce((sum, b) => sum + b.total, 0);
          this.strips.push({ x: at, width: (total / own) * w, row: row + 1, boxes: rest, total });
          break;
        }
        lay(callee, at, row + 1, cw);
        at += cw;
      }
    };
    lay(focus, 0, above.length, width);
    this.draw(width, above.length, palette, label, matches, chosen);
  }

  private draw(width: number, above: number, palette: Palette, label: (box: Box) => string, matches: ((box: Box) => boolean) | null, chosen: Box | null) {
    const { ctx, canvas } = this;
    const scale = devicePixelRatio || 1;
    const last = this.strips.reduce((most, s) => Math.max(most, s.row), this.rows.length - 1);
    this.height = (last + 1) * rowHeight + 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(this.height * scale);
    canvas.style.height = `${this.height}px`;
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.font = font;
    ctx.textBaseline = "middle";
    ctx.fillStyle = palette.strip;
    for (const s of this.strips) ctx.fillRect(s.x, s.row * rowHeight, Math.max(s.width, 0.3), rowHeight - 1);
    for (const [row, placed] of this.rows.entries()) {
      for (const p of placed) {
        const hit = matches != null && p.box.key >= 0 && matches(p.box);
        ctx.globalAlpha = row < above ? 0.6 : matches != null && !hit ? 0.4 : 1;
        ctx.fillStyle = hit ? palette.match : palette.of(p.box);
        ctx.fillRect(p.x, row * rowHeight, Math.max(p.width - (p.width > 2 ? 1 : 0), 0.5), rowHeight - 1);
        ctx.globalAlpha = row < above ? 0.75 : 1;
        if (p.width > 26) {
          ctx.fillStyle = hit ? palette.onMatch : palette.ink;
          const text = this.fit(label(p.box), p.width - 9);
          if (text) ctx.fillText(text, p.x + 4, row * rowHeight + rowHeight / 2);
        }
        if (p.box === chosen) {
          ctx.globalAlpha = 1;
          ctx.strokeStyle = palette.focus;
          ctx.lineWidth = 2;
          ctx.strokeRect(p.x + 1, row * rowHeight + 1, Math.max(p.width - 3, 1), rowHeight - 3);
        }
      }
    }
    ctx.globalAlpha = 1;
  }

  // fit cuts a text to a width; nothing is left of one with room for less than three characters.
  private fit(text: string, width: number): string {
    const each = 6.1; // about what a character takes, so that most texts are measured once
    let n = Math.min(text.length, Math.floor((width / each) * 1.25));
    while (n > 2) {
      const cut = n < text.length ? text.slice(0, n - 1) + "…" : text;
      const excess = this.ctx.measureText(cut).width - width;
      if (excess <= 0) return cut;
      n -= Math.max(1, Math.floor(excess / each));
    }
    return "";
  }

  at(x: number, y: number): Box | null {
    const at = Math.floor(y / rowHeight);
    const row = this.rows[at] ?? [];
    let low = 0, high = row.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const p = row[middle]!;
      if (x < p.x) high = middle - 1;
      else if (x >= p.x + p.width) low = middle + 1;
      else return p.box;
    }
    const strip = this.strips.find((s) => s.row === at && x >= s.x && x < s.x + s.width);
    if (!strip) return null;
    let left = ((x - strip.x) / strip.width) * strip.total;
    return strip.boxes.find((b) => (left -= b.total) < 0) ?? strip.boxes.at(-1)!;
  }

  // where returns the place of a box on the canvas.
  where(box: Box): { x: number; y: number; width: number } | null {
    for (const [row, placed] of this.rows.entries()) {
      for (const p of placed) if (p.box === box) return { x: p.x, y: row * rowHeight, width: p.width };
    }
    return null;
  }
}
