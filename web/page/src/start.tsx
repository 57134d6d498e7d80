import type { ComponentChildren } from "preact";
import { render } from "preact"; // 5 KB; what it renders from strings is text, never markup
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { read } from "./data";
import { onComplete, useComplete } from "./later";
import { section } from "./selection";

// start renders a page once its data are unpacked. A page that completes itself calls useComplete.
export function start<T>(page: (data: T) => ComponentChildren, completes = false) {
  const root = document.getElementById("app")!;
  read<T>().then(
    (data) => {
      render(completes ? page(data) : <Whole>{page(data)}</Whole>, root);
      document.documentElement.dataset.ready = "true";
      // A link to a section and a selection names no element by itself.
      if (section()) onComplete(() => document.getElementById(section())?.scrollIntoView());
    },
    (reason: unknown) => {
      const browser = typeof DecompressionStream === "undefined" ? " This browser is too old: it lacks DecompressionStream." : "";
      render(<main class="failure"><h1>This report cannot be displayed</h1><p>{String(reason)}.{browser}</p></main>, root);
    },
  );
}

function Whole({ children }: { children: ComponentChildren }) {
  useComplete(true);
  return <>{children}</>;
}
