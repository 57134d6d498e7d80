// Opens a report under one selection of time after the other and returns what its anatomy and flame graphs say.
// Arguments: PAGE SELECTION...   (a selection is FROM,TO in seconds, or "-" for none)
//
// It asserts nothing: web/select_test.go knows what the record held.
import { pathToFileURL } from "node:url";

export default async (open, page_, ...selections) => {
  const seen = { console: [], errors: [], moments: [] };
  const page = await open();
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
  return seen;
};
