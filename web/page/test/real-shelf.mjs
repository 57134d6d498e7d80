// Does with a served shelf of real runs what a user does: opens one, goes back, compares two. Returns what it saw.
// Arguments: URL RUN OTHER [SCREENSHOT-DIR]
//
// It asserts nothing: web/shelf/browser_test.go knows what the runs hold.
import { settled } from "./settled.mjs";
import path from "node:path";

export default async (open, url, run, other, shots) => {
  const seen = { console: [], errors: [], overflow: {} };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  const ready = () => page.waitForSelector("html[data-complete]");
  const sizes = async (where) => {
    for (const [name, width, scheme, media] of [["phone", 390, "light", "screen"], ["phone-dark", 390, "dark", "screen"], ["desk", 1440, "light", "screen"], ["desk-dark", 1440, "dark", "screen"], ["print", 800, "light", "print"]]) {
      await page.emulateMedia({ colorScheme: scheme, media });
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      seen.overflow[`${where} ${name}`] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (shots) await page.screenshot({ path: path.join(shots, `${where}-${name}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: "light", media: "screen" });
    await page.setViewportSize({ width: 1366, height: 900 });
  };
  await page.goto(url);
  await ready();
  seen.title = await page.textContent("h1");
  seen.names = await page.$$eval(".shelf-row:not(.head) .shelf-name", (all) => all.map((e) => e.firstChild.textContent));
  seen.cut = await page.$$eval(".shelf-row:not(.head)", (all) => all.filter((row) => [...row.children].some((e) => e.getBoundingClientRect().bottom > row.getBoundingClientRect().bottom + 1)).length);
  seen.marks = await page.$$eval(".state-mark", (all) => all.map((e) => e.textContent));
  await sizes("shelf");
  await page.click(`.shelf-name:has-text("${run}") a`);
  await ready();
  seen.report = await page.textContent("h1");
  seen.findings = await page.locator(".finding").count();
  seen.charts = await page.locator("#series .chart").count();
  await page.waitForSelector("#flames canvas[data-painted]");
  await sizes("report");
  await page.goBack();
  await ready();
  for (const name of [run, other]) await page.check(`input[aria-label="Compare ${name}"]`);
  await page.click("text=Compare the two");
  await ready();
  seen.sides = (await page.$$eval(".compared .note", (all) => all.map((e) => e.textContent))).sort();
  seen.fates = await page.locator(".fate").count();
  await page.waitForSelector("#flames canvas[data-painted]");
  await sizes("compare");
  return seen;
};
