// Reads the figures of one run where a browser shows them: the report as a file, and the page that was live until its end.
// Arguments: PAGE URL SELECTOR...
//
// It asserts nothing: web/figures_test.go knows what the bundle holds.
import { pathToFileURL } from "node:url";

export default async (open, page_, url, ...selectors) => {
  const seen = { errors: [], file: {}, live: {} };
  for (const [where, address] of [["file", pathToFileURL(page_).href], ["live", url]]) {
    const page = await open();
    page.on("pageerror", (e) => seen.errors.push(String(e)));
    await page.goto(address);
    for (const selector of selectors) {
      await page.waitForSelector(selector);
      seen[where][selector] = await page.$$eval(selector, (all) => all.map((e) => e.firstChild.textContent));
    }
  }
  return seen;
};
