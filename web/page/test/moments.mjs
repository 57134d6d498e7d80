// Opens a report under one selection of time after the other and prints what its anatomy and flame graphs say as JSON.
// Usage: node moments.mjs CHROMIUM PAGE SELECTION...   (a selection is FROM,TO in seconds, or "-" for none)
//
// It asserts nothing: web/select_test.go knows what the record held.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const [executablePath, page_, ...selections] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--lang=en-US"] });
const seen = { console: [], errors: [], moments: [] };
try {
  const page = await browser.newPage({ viewport: { width: 1366, height: 900 }, locale: "en-US" });
  page.setDefaultTimeout(20_000);
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  for (const selection of selections) {
    await page.goto("about:blank");
    await page.goto(pathToFileURL(page_).href + (selection === "-" ? "" : "#t=" + selection));
    await page.waitForSelector("html[data-complete]");
    const moment = await page.evaluate(() => ({
      covers: document.querySelector("#anatomy .covers")?.textContent ?? "",
      bands: [...document.querySelectorAll("#anatomy .band-name em")].map((e) => e.textContent),
      first: [...(document.querySelector(".parts tbody tr")?.children ?? [])].map((e) => e.textContent),
      flames: {},
    }));
    for (const id of await page.$$eval("#flames input[name=flame]", (all) => all.map((e) => e.value))) {
      await page.$eval(`#flames input[value=${id}]`, (e) => e.click()); // a pointer may miss while the page scrolls
      await page.waitForSelector(`.flame-graph[data-graph=${id}]`);
      const note = await page.textContent(".flame-graph > .note");
      await page.fill(".flame-search input", "startUp");
      moment.flames[id] = { note, found: await page.textContent(".flame-found") };
    }
    seen.moments.push(moment);
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));
