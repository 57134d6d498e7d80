// Opens a page in a real browser at three widths and returns what stands in it.
// Arguments: PAGE SCREENSHOT-DIR|"" NAME SELECTOR...
//
// It asserts nothing: the tests beside the pages know what they hold.
import { pathToFileURL } from "node:url";
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, page_, shots, name, ...selectors) => {
  const url = pathToFileURL(page_).href;
  const seen = { console: [], errors: [], requests: [], overflow: {}, texts: {} };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  page.on("request", (r) => { if (r.url() !== url) seen.requests.push(r.url().slice(0, 200)); });
  await page.goto(url);
  await page.waitForSelector("html[data-complete]");
  for (const selector of selectors) seen.texts[selector] = await page.$$eval(selector, (all) => all.map((e) => e.textContent || e.getAttribute("aria-label") || ""));
  seen.title = await page.title();
  seen.injected = await page.locator("img, iframe, object").count();
  for (const [size, width, scheme] of [["laptop", 1366, "light"], ["dark", 1366, "dark"], ["phone", 390, "light"], ["wide", 2560, "dark"]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    seen.overflow[size] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (shots) await page.screenshot({ path: path.join(shots, `${name}-${size}.png`), fullPage: true });
  }
  return seen;
};
