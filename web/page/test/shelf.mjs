// Walks through a served shelf in a real browser and returns what it saw.
// Arguments: URL [SCREENSHOT-DIR]
//
// It asserts nothing: web/shelf/browser_test.go knows what the directory held.
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, url, shots) => {
  const seen = { console: [], errors: [], foreign: [], overflow: {} };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  page.on("request", (r) => { if (new URL(r.url()).host !== new URL(url).host && !r.url().startsWith("data:")) seen.foreign.push(r.url().slice(0, 200)); });
  const ready = () => page.waitForSelector("html[data-complete]");
  const shot = async (name) => { if (shots) await page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true }); };
  await page.goto(url);
  await ready();
  seen.address = page.url();
  seen.opened = Math.round(await page.evaluate(() => performance.now()));
  seen.title = await page.textContent("h1");
  seen.drawn = await page.locator(".shelf-row:not(.head)").count();
  seen.marks = await page.$$eval(".state-mark", (all) => all.map((e) => e.textContent));
  await shot("shelf");
  const words = async (text) => {
    await page.fill("input[type=search]", text);
    await settled(page);
    return page.$$eval(".shelf-row:not(.head) .shelf-name", (all) => all.map((e) => e.firstChild.textContent));
  };
  seen.searched = await words("needle");
  await words("");
  for (const [name, width, scheme] of [["phone", 390, "light"], ["wide", 2560, "dark"], ["laptop", 1366, "light"]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    seen.overflow["shelf " + name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await shot("shelf-" + name);
  }
  await words("compared");
  for (const box of await page.locator(".shelf-row input:enabled").all()) await box.check();
  await page.click("text=Compare the two");
  await ready();
  await page.waitForSelector("#flames canvas[data-painted]");
  seen.sides = await page.$$eval(".compared .note", (all) => all.map((e) => e.textContent));
  seen.fates = await page.$$eval(".fate", (all) => all.map((e) => e.textContent));
  seen.graphs = await page.$$eval("#flames .flame-tabs input", (all) => all.map((e) => e.value));
  const at = page.locator("#flames canvas");
  await at.scrollIntoViewIfNeeded(); // the mouse reaches only what is in sight
  const box = await at.boundingBox();
  await page.mouse.move(box.x + 5, box.y + 3 * 19 + 9);
  await page.waitForSelector(".flame-card:not([hidden])");
  seen.card = await page.textContent(".flame-card");
  for (const [name, width, scheme] of [["phone", 390, "light"], ["dark", 1366, "dark"], ["wide", 2560, "light"], ["laptop", 1366, "light"]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    seen.overflow["compare " + name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await shot("compare-" + name);
  }
  await page.goBack();
  await ready();
  await words("compared-a");
  await page.click(".shelf-name a");
  await ready();
  seen.report = await page.textContent("h1");
  seen.injected = await page.locator("img, iframe, object").count();
  return seen;
};
