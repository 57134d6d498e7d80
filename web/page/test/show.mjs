// Opens a page in a real browser at three widths and prints what stands in it as JSON.
// Usage: node show.mjs CHROMIUM PAGE SCREENSHOT-DIR|"" NAME SELECTOR...
//
// It asserts nothing: the tests beside the pages know what they hold.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [executablePath, page_, shots, name, ...selectors] = process.argv.slice(2);
const url = pathToFileURL(page_).href;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--lang=en-US"] });
const seen = { console: [], errors: [], requests: [], overflow: {}, texts: {} };
try {
  const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
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
    await page.waitForTimeout(150);
    seen.overflow[size] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (shots) await page.screenshot({ path: path.join(shots, `${name}-${size}.png`), fullPage: true });
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));
