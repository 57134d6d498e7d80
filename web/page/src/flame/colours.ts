// Which colour a box has: by whose code it is, by the state of a request, or by a difference.

import type { Box } from "./boxes";
import type { Tree } from "./tree";
import { colour, isDark } from "../theme";

export type Owner = "own" | "dependency" | "standard" | "runtime" | "wait";

// owners are those of a legend, with their names.
export const owners: [Owner, string][] = [
  ["own", "the service's own code"], ["dependency", "its dependencies"], ["standard", "standard library"], ["runtime", "Go runtime"],
];

// packageOf returns the import path of a function: "net/http" of "net/http.(*conn).serve".
export function packageOf(name: string): string {
  const bracket = name.search(/[[(]/); // type arguments and receivers hold paths of their own
  const head = bracket < 0 ? name : name.slice(0, bracket);
  const slash = head.lastIndexOf("/");
  const dot = head.indexOf(".", slash + 1);
  return dot < 0 ? head : head.slice(0, dot);
}

export function ownerOf(name: string, module: string): Owner {
  if (name.startsWith("waits for ") || name.startsWith("(")) return "wait";
  const path = packageOf(name);
  if (path === "main" || (module && (path === module || path.startsWith(module + "/")))) return "own";
  if (path === "runtime" || path.startsWith("runtime/") || path.startsWith("internal/runtime/") || !name.includes(".")) return "runtime";
  return path.split("/")[0]!.includes(".") ? "dependency" : "standard";
}

// spread is a number from 0 to 1 that is always the same for a text.
function spread(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return ((h >>> 8) & 0xffff) / 0xffff;
}

// Palette gives boxes their colours, in the scheme of the moment.
export class Palette {
  private readonly known = new Map<number, string>();
  private readonly dark = isDark();
  readonly ink = colour("ink");
  readonly soft = colour("soft");
  readonly card = colour("card");
  readonly strip = colour("grid");
  readonly match = colour("flame-match");
  readonly onMatch = colour("flame-on-match");
  readonly focus = colour("link");
  private readonly more = colour("flame-more");
  private readonly less = colour("flame-less");
  private readonly same = colour("flame-same");

  constructor(private readonly tree: Tree, private readonly module: string, private readonly noise: (box: Box) => number | null) {}

  of(box: Box): string {
    if (box.key < 0) return this.strip;
    const change = this.noise(box);
    if (change != null) return change === 0 ? this.same : mix(this.same, change > 0 ? this.more : this.less, 0.2 + (this.dark ? 0.6 : 0.45) * Math.min(1, Math.abs(change)));
    const { tree } = this;
    let top = box.node;
    if (tree.graph.id === "requests") while (tree.parent[top]! > 0) top = tree.parent[top]!;
    const fn = tree.fn[tree.graph.id === "requests" ? top : box.node]!;
    let found = this.known.get(fn);
    if (!found) this.known.set(fn, (found = tree.graph.id === "requests" ? this.state(tree.names.name[fn]!) : this.owned(tree.names.name[fn]!)));
    return found;
  }

  private owned(name: string): string {
    const owner = ownerOf(name, this.module);
    const at = spread(packageOf(name)) - 0.5;
    const [hue, saturation] = { own: [24, 88], dependency: [262, 42], standard: [174, 38], runtime: [215, 18], wait: [215, 8] }[owner] as [number, number];
    return `hsl(${hue + 16 * at} ${saturation}% ${(this.dark ? 36 : 76) + 7 * at}%)`;
  }

  private state(name: string): string {
    const key: Record<string, string> = { "gc-assist": "assist", "stop-the-world": "stw", "stopped-by-call": "stopped" };
    return mix(this.card, colour(key[name] ?? name) || colour("other"), this.dark ? 0.62 : 0.55);
  }
}

// mix returns a colour between two of the form #rrggbb.
export function mix(a: string, b: string, share: number): string {
  const part = (hex: string, i: number) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  return "#" + [0, 1, 2].map((i) => Math.round(part(a, i) * (1 - share) + part(b, i) * share).toString(16).padStart(2, "0")).join("");
}
