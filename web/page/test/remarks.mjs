// Asks each flame graph of a report for a function, and returns what its lines say, as [line, the compiler's remarks] by
// graph.
// Arguments: PAGE FUNCTION
//
// It asserts nothing: web/real_test.go knows what the compiler said.
import { pathToFileURL } from "node:url";

export default async (open, page_, name) => {
  const seen = { errors: [], lines: {} };
  const page = await open();
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  await page.goto(pathToFileURL(page_).href);
  await page.waitForSelector("html[data-complete]");
  for (const id of await page.$$eval("#flames input[name=flame]", (all) => all.map((e) => e.value))) {
    await page.$eval(`#flames input[value=${id}]`, (e) => e.click());
    await page.waitForSelector(`.flame-graph[data-graph=${id}] canvas[data-painted]`);
    await page.fill(".flame-search input", name);
    await page.click(".flame-graph summary");
    const row = page.locator(`.function-row:not(.head) button[title="${name}"]`);
    if (!(await row.count())) continue;
    await row.first().click();
    seen.lines[id] = await page.$$eval(".flame-chosen tbody tr", (all) => all.map((e) => [e.children[0].textContent, e.children[4]?.textContent ?? ""]));
  }
  return seen;
};
