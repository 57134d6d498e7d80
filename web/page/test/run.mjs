// Watches a real run from its beginning to its report, presses its buttons, and returns what it saw.
// Arguments: URL [SCREENSHOT-DIR]
//
// It asserts nothing: cmd/redline/live_browser_test.go knows what ran.
import path from "node:path";
import { drawn } from "./drawn.mjs";

export default async (open, url, shots) => {
  const seen = { console: [], errors: [] };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  const shot = async (name) => { if (shots) await page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true }); };
  await page.goto(url);
  await page.waitForFunction(() => Number(document.documentElement.dataset.windows) >= 40);
  // Charts fill: each has a line with a figure, and is drawn once it comes into sight.
  seen.charts = {};
  for (const id of ["throughput", "latency", "cpu", "goroutines"]) {
    const chart = page.locator("#chart-" + id);
    await drawn(page, "chart-" + id);
    await page.waitForFunction((id) => /\d/.test(document.querySelector(`#chart-${id} .reading`)?.textContent ?? ""), id);
    seen.charts[id] = await chart.locator("canvas").evaluate((c) => {
      const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
      let n = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) n++;
      return n;
    });
  }
  await page.evaluate(() => scrollTo(0, 0));
  // An assessment finds something, or says why it was put off. The first may come before a trace does, and find nothing.
  await page.waitForFunction(() => document.querySelector("#findings .finding h3")
    || /Not judged now/.test(document.querySelector("#findings")?.textContent ?? ""));
  seen.soFar = await page.textContent("#findings .note");
  seen.findings = await page.$$eval("#findings .finding h3", (all) => all.map((e) => e.textContent));
  await page.fill("#mark-text", "deploy <b>");
  await page.click("text=Mark this moment");
  await page.waitForSelector(".marks li");
  seen.marks = await page.$$eval(".marks li", (all) => all.map((e) => e.lastChild.textContent));
  await shot("running");
  seen.missed = await page.evaluate(() => document.documentElement.dataset.missed);
  await page.click("text=Stop early");
  await page.click("text=Stop and keep");
  await page.waitForSelector("html[data-report]");
  seen.address = page.url();
  seen.headline = await page.textContent("h1");
  seen.figures = await page.$$eval(".figures dd", (all) => all.map((e) => e.firstChild.textContent));
  await page.waitForSelector("#series .key .swatch.mark");
  seen.marked = await page.$$eval("#series .key span:has(.swatch.mark)", (all) => all.map((e) => e.textContent));
  await shot("ended");
  return seen;
};
