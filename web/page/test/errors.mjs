// Asks a report what failed, where and when, in a real browser: errors by message, tables that sort, times of day, and
// where long names break.
// Arguments: PAGE [SCREENSHOT-DIR]
//
// It asserts nothing: web/errors_test.go knows what the record held.
import { pathToFileURL } from "node:url";
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, page_, shots) => {
  const seen = { console: [], sorted: {}, torn: [], files: {} };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.console.push(String(e)));
  await page.goto(pathToFileURL(page_).href);
  await page.waitForSelector("html[data-complete]");
  const rows = (table) => page.$$eval(`${table} tbody tr`, (all) => all.map((tr) => [...tr.children].map((td) => td.textContent)));
  seen.failures = await rows("#failures");
  // Each column sorts by keyboard as by mouse; a second press turns the order.
  const press = async (table, column) => {
    await page.focus(`${table} thead th:nth-child(${column}) button`);
    await page.keyboard.press("Enter");
    await settled(page);
    return page.$eval(`${table} thead th:nth-child(${column})`, (th) => th.ariaSort);
  };
  const column = async (table, n) => (await rows(table)).map((r) => r[n - 1]);
  for (const [name, table, n] of [["failures", "#failures", 2], ["parts", ".parts", 3], ["slow", ".slow", 5], ["statements", ".statements", 2]]) {
    const first = await press(table, n);
    const once = await column(table, n);
    const second = await press(table, n);
    seen.sorted[name] = { aria: [first, second], once, twice: await column(table, n) };
  }
  // What happened then?
  await page.click("#failures tbody tr:last-child button.when");
  await page.waitForSelector(".selection");
  await settled(page);
  seen.hash = await page.evaluate(() => location.hash);
  seen.bar = await page.textContent(".selection");
  const over = page.locator("#chart-throughput .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await settled(page);
  seen.instant = await page.textContent("#chart-throughput .instant");
  if (shots) await page.locator("#failures").screenshot({ path: path.join(shots, "failures.png") });
  // Where there is no room, long names break behind a / . ) or in front of a bracket, not within a word, as they would
  // without places to break.
  await page.setViewportSize({ width: 230, height: 900 });
  await settled(page);
  const torn = () => page.evaluate(() => {
    const torn = [];
    for (const code of document.querySelectorAll("#anatomy td.own > code, #anatomy td.own > details > summary > code, .finding dd code, .place code")) {
      const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      let before = "", line = null;
      for (let node; (node = walker.nextNode());) {
        for (let i = 0; i < node.length; i++) {
          const range = document.createRange();
          range.setStart(node, i);
          range.setEnd(node, i + 1);
          const at = range.getClientRects()[0];
          const c = node.data[i];
          if (at && line != null && at.top > line + 4 && !/[\s/.)\],<:-]/.test(before) && !/[\s([]/.test(c)) torn.push(code.textContent + " at " + before + "|" + c);
          if (at) line = at.top;
          before = c;
        }
      }
    }
    return torn;
  });
  seen.torn = await torn();
  await page.evaluate(() => { for (const at of document.querySelectorAll("wbr")) at.remove(); });
  await settled(page);
  seen.without = await torn();
  return seen;
};
