// Takes a picture of a page in Debian's Chromium.
// Usage: node shots.mjs URL FILE [SELECTOR [SECONDS [HEIGHT [SECTION]]]]
//
// It waits until the page shows SELECTOR, for so many seconds at most, and then one more. With SECTION, a selector, the
// picture is of the first HEIGHT pixels of that part of the page.
import { chromium } from "playwright-core"; // drives the system's Chromium; nothing is downloaded
import { accessSync } from "node:fs";

const [url, file, selector, seconds, height, section] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => {
  try { accessSync(p); return true; } catch { return false; }
});
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--lang=en-US"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: Number(height ?? 960) }, locale: "en-US", colorScheme: "light" });
  await page.goto(url);
  await page.waitForSelector("html[data-complete]");
  if (selector) await page.waitForSelector(selector, { timeout: 1000 * Number(seconds ?? 30) }).catch(() => console.error(`${file}: no ${selector} in time`));
  await page.waitForTimeout(1000);
  let clip;
  if (section) {
    await page.locator(section).scrollIntoViewIfNeeded(); // charts are drawn where they are seen
    await page.waitForTimeout(1000);
    await page.evaluate(() => scrollTo(0, 0));
    const box = await page.locator(section).boundingBox();
    clip = { ...box, height: Math.min(box.height, Number(height ?? box.height)) };
  }
  await page.screenshot({ path: file, clip, fullPage: clip != null });
} finally {
  await browser.close();
}
