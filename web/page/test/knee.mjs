// Watches two steps of a real search for the knee in a browser, ends the search, and returns what it saw up to the answer.
// Arguments: URL [SCREENSHOT-DIR]
//
// It asserts nothing: cmd/redline/live_browser_test.go knows what ran.
import path from "node:path";

export default async (open, url, shots) => {
  const seen = { console: [], errors: [], phases: [], folders: [] };
  const page = await open();
  page.on("console", (m) => seen.console.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  const shot = async (name) => { if (shots) await page.screenshot({ path: path.join(shots, name + ".png"), fullPage: true }); };
  await page.goto(url);
  for (let step = 0; step < 2; step++) {
    // The folder of a step that the page has not shown, with windows of its load.
    await page.waitForFunction((before) => {
      const folder = document.querySelector("footer")?.textContent ?? "";
      return folder !== "" && !before.includes(folder) && /\d/.test(document.querySelector("#chart-throughput .reading")?.textContent ?? "");
    }, seen.folders);
    seen.folders.push(await page.textContent("footer"));
    seen.phases.push(await page.textContent(".live-state > span:nth-child(2)"));
    await shot("step-" + step);
  }
  await page.click("text=Stop early");
  await page.click("text=Stop and keep");
  await page.waitForURL("**/result?*");
  seen.heading = await page.textContent("h1");
  seen.text = await page.textContent("pre");
  await shot("answer");
  return seen;
};
