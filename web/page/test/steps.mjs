// Watches a verb of two runs in a real browser, from the first to the result, and returns what it saw.
// Arguments: URL [SCREENSHOT-DIR]
//
// It asserts nothing: web/live/browser_test.go knows what the runs held.
import path from "node:path";
import { drawn } from "./drawn.mjs";

export default async (open, url, shots) => {
  const seen = { console: [], errors: [], phases: [] };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  await page.goto(url);
  for (const step of ["step 1", "step 2"]) {
    await page.waitForSelector(`.live-state span:text-is("${step}")`);
    await page.waitForFunction((step) => document.querySelector("footer").textContent.endsWith(step), step.replace(" ", "-"));
    await drawn(page, "chart-throughput");
    seen.phases.push(await page.textContent(".live-state"));
    await page.click("text=Mark this moment"); // what follows may begin
  }
  await page.waitForURL("**/result?*");
  seen.title = await page.title();
  seen.heading = await page.textContent("h1");
  seen.text = await page.textContent("pre");
  seen.overflow = {};
  for (const [name, width, scheme] of [["phone", 390, "dark"], ["desk", 1440, "light"]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    seen.overflow[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (shots) await page.screenshot({ path: path.join(shots, `result-${name}.png`) });
  }
  return seen;
};
