import { useEffect, useRef } from "preact/hooks";

// Tooltip shows the text of data-tip of whatever is pointed at or focused. One
// listener serves thousands of segments.
export function Tooltip() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tip = box.current!; // kept: a listener outlives the element until the next paint
    const show = (event: Event) => {
      const target = event.target instanceof Element ? event.target.closest<HTMLElement | SVGElement>("[data-tip]") : null;
      tip.hidden = !target;
      if (!target) return;
      tip.textContent = target.dataset.tip!;
      const at = target.getBoundingClientRect();
      const x = event instanceof PointerEvent ? event.clientX : at.left;
      tip.style.left = `${Math.max(8, Math.min(x + 10, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${at.bottom + 6 + tip.offsetHeight > innerHeight ? at.top - tip.offsetHeight - 6 : at.bottom + 6}px`;
    };
    const hide = () => { tip.hidden = true; };
    document.addEventListener("pointermove", show);
    document.addEventListener("focusin", show);
    document.addEventListener("scroll", hide, { passive: true });
    return () => {
      document.removeEventListener("pointermove", show);
      document.removeEventListener("focusin", show);
      document.removeEventListener("scroll", hide);
    };
  }, []);
  return <div class="tooltip" ref={box} role="tooltip" hidden />;
}
