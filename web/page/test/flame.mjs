// Opens a report with a large flame graph in a real browser and returns how long it took, in ms.
// Arguments: PAGE [SCREENSHOT-DIR]
//
// It asserts nothing: web/flame_test.go knows what the record held.
import { pathToFileURL } from "node:url";
import path from "node:path";

export default async (open, page_, shots) => {
  const seen = { console: [], errors: [], zooms: [] };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  await page.goto(pathToFileURL(page_).href);
  await page.waitForSelector("html[data-ready]");
  seen.opened = Math.round(await page.evaluate(() => performance.now()));
  const canvas = page.locator("#flames canvas").first();
  await page.waitForSelector("#flames canvas[data-painted]");
  const painted = async () => Number(await canvas.getAttribute("data-painted"));
  seen.first = await painted();
  seen.unpacked = Number(await page.getAttribute(".flame-graph", "data-unpacked"));
  if (shots) await page.locator("#flames").screenshot({ path: path.join(shots, "flames.png") });
  await canvas.focus();
  // Into the first callee, and the first of that, as far as it goes; then back to all.
  for (const keys of [["ArrowDown", "ArrowDown", "Enter"], ["ArrowDown", "ArrowDown", "Enter"], ["ArrowDown", "Enter"], ["Escape"]]) {
    await canvas.evaluate((c) => { c.dataset.painted = ""; });
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForFunction((c) => c.dataset.painted !== "", await canvas.elementHandle());
    seen.zooms.push(await painted());
  }
  // Inverted, thousands of functions share a strip below the root; the pointer still finds each of them.
  await page.check("text=inverted");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 19 + 9);
  seen.strip = await page.evaluate(() => { const card = document.querySelector(".flame-card"); return card.hidden ? "" : card.firstChild.textContent; });
  await page.mouse.click(box.x + box.width / 2, box.y + 19 + 9);
  seen.inStrip = await page.textContent(".flame-chosen code");
  await page.click(".flame-reset");
  await page.uncheck("text=inverted");
  // Every function is in the table, and search finds the one that ends a single stack.
  await page.click(".flame-graph summary");
  await page.waitForSelector(".function-row:not(.head)");
  seen.functions = Number(await page.getAttribute(".function-table", "aria-rowcount")) - 1;
  await page.fill(".flame-search input", "leaf.call77");
  await page.waitForFunction(() => document.querySelector(".flame-found").textContent);
  seen.found = await page.textContent(".flame-found");
  return seen;
};
