// drawn waits until a chart is drawn, which it is where it is seen: it stays in sight, whatever appears above it.
export const drawn = (page, id) => page.waitForFunction((id) => {
  const chart = document.getElementById(id);
  chart?.scrollIntoView({ block: "center" });
  return chart?.querySelector("canvas") != null;
}, id);
