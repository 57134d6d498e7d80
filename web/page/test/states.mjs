// Opens runs that something is wrong with from a served shelf, then removes one while the list is shown. Returns what the
// pages say.
// Arguments: URL SHELF-DIR SCREENSHOT-DIR|"" RUN...
//
// It asserts nothing: web/shelf/browser_test.go knows what is wrong with them.
import { renameSync } from "node:fs";
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, url, dir, shots, ...runs) => {
  const seen = { errors: [], runs: {}, overflow: {} };
  const page = await open();
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  for (const run of runs) {
    await page.goto(`${url}run/${run}/`);
    await page.waitForSelector("h1");
    seen.runs[run] = { heading: await page.textContent("h1"), text: await page.innerText("body") };
    for (const [name, width] of [["phone", 390], ["desk", 1366]]) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      seen.overflow[`${run} ${name}`] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (shots) await page.screenshot({ path: path.join(shots, `${run}-${name}.png`), fullPage: true });
    }
  }
  await page.goto(url);
  await page.waitForSelector(`input[aria-label="Compare ${runs[0]}"]`);
  const before = await page.textContent("h1");
  renameSync(path.join(dir, runs[0]), path.join(dir, "renamed"));
  await page.waitForSelector('input[aria-label="Compare renamed"]');
  seen.renamed = [before, await page.textContent("h1"), String(await page.locator(`input[aria-label="Compare ${runs[0]}"]`).count())];
  return seen;
};
