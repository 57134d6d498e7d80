// Selects spans of time on a report in a real browser and returns what followed.
// Arguments: PAGE [SCREENSHOT-DIR]
//
// It asserts nothing: web/select_test.go knows what the record held.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, page_, shots) => {
  const url = pathToFileURL(page_).href;
  const seen = { console: [], errors: [], files: {} };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  const ready = () => page.waitForSelector("html[data-complete]");
  // state is what the sections say of the moment's selection.
  const state = async () => {
    await settled(page);
    return page.evaluate(() => {
      const text = (selector) => document.querySelector(selector)?.textContent ?? "";
      const row = (selector) => [...(document.querySelector(selector)?.children ?? [])].map((e) => e.textContent);
      return {
        hash: location.hash, covers: text("#load .covers"), p50: text(".quantiles tbody tr td"), requests: text("#load .card .facts dd"),
        rows: [...document.querySelectorAll(".request-row:not(.head)")].map((e) => [...e.children].map((c) => c.textContent)),
        slow: document.querySelectorAll(".slow tbody tr").length, statement: row(".statements tbody tr"), anatomy: text("#anatomy .covers"),
        flame: text(".flame-graph > .note"), outside: document.querySelectorAll(".rests .note").length, marks: document.querySelectorAll(".rests-span").length,
        bar: text(".selection"),
      };
    });
  };
  const flame = (id) => page.check(`#flames input[value=${id}]`, { force: true });
  await page.goto(url);
  await ready();
  await flame("cpu");
  seen.whole = await state();
  const over = page.locator("#chart-throughput .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(".selection");
  seen.dragged = await state();
  await flame("allocs");
  seen.undivided = await state();
  if (shots) {
    await page.screenshot({ path: path.join(shots, "selected-charts.png") });
    await page.evaluate(() => document.getElementById("load").scrollIntoView());
    await page.screenshot({ path: path.join(shots, "selected-load.png") });
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: path.join(shots, "selected-top.png") });
  }
  // The address alone brings the selection back.
  await page.goto("about:blank");
  await page.goto(url + "#t=20,25");
  await ready();
  await flame("cpu");
  seen.linked = await state();
  await page.click("nav a:has-text('Load')");
  seen.section = await page.evaluate(() => location.hash);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".selection", { state: "detached" });
  seen.cleared = await state();
  await page.focus("#chart-latency .plot");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
  seen.keys = await state();
  await page.keyboard.press("Escape");
  seen.escaped = await page.evaluate(() => location.hash);
  // A finding's marks select what it rests on.
  await page.locator(".rests-span").first().click();
  seen.marked = await page.evaluate(() => location.hash);
  await page.click("text=Show the whole run");
  // Every table hands out its figures.
  const save = async (button) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button[aria-label="${button}"]`)]);
    seen.files[download.suggestedFilename()] = readFileSync(await download.path(), "utf8");
  };
  await page.click("#chart-throughput summary");
  for (const name of ["Thresholds as CSV", "Thresholds as JSON", "Latency distribution as JSON", "Requests of the mix as CSV", "Percentile spectrum as CSV", "The anatomy of requests as CSV",
    "The slowest requests as CSV", "SQL statements as CSV", "Throughput as CSV", "Throughput as JSON"]) await save(name);
  // Requests of the mix.
  await page.click(".request-row:not(.head) button");
  await page.waitForSelector(".request-detail #request-spectrum canvas");
  seen.named = await page.$$eval(".request-detail .named tbody tr", (all) => all.map((e) => e.textContent));
  seen.bands = await page.$$eval(".request-detail .band-name", (all) => all.map((e) => e.textContent));
  seen.detail = await page.$$eval(".request-detail .card > table tr", (all) => all.map((e) => e.textContent));
  if (shots) await page.locator("#requests").screenshot({ path: path.join(shots, "requests.png") });
  if (shots) await page.locator("#thresholds").screenshot({ path: path.join(shots, "thresholds.png") });
  await page.click(".columns summary");
  await page.uncheck(".columns label:has-text('99.9 %') input");
  seen.columns = await page.$$eval(".request-row.head > span", (all) => all.map((e) => e.textContent));
  await page.click(".request-row:not(.head) button:has-text('order')");
  seen.fewer = await page.$$eval(".request-detail .band-name", (all) => all.map((e) => e.textContent));
  await page.fill("#requests input[type=search]", "ord");
  await page.waitForFunction(() => document.querySelectorAll(".request-row:not(.head)").length === 1);
  seen.found = await page.textContent(".request-row:not(.head) button");
  if (shots) {
    await page.emulateMedia({ media: "print" });
    await page.pdf({ path: path.join(shots, "print.pdf"), format: "A4" });
  }
  return seen;
};
