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
    // A step that the page has not shown, with windows of its load; or that the search has ended by itself, which it
    // does where the generator gets no CPU. Read in one piece, because the next step may begin between two.
    const shown = await page.waitForFunction((before) => {
      if (location.pathname.endsWith("/result")) return { ended: true };
      document.getElementById("chart-throughput")?.scrollIntoView({ block: "center" }); // it is drawn where it is seen
      const text = (selector) => document.querySelector(selector)?.textContent ?? "";
      const folder = text("footer"), phase = text(".live-state > span:nth-child(2)");
      return folder !== "" && !before.includes(folder) && /\d/.test(text("#chart-throughput .reading")) && { folder, phase };
    }, seen.folders).then((handle) => handle.jsonValue());
    if (shown.ended) break;
    seen.folders.push(shown.folder);
    seen.phases.push(shown.phase);
    await shot("step-" + step);
  }
  const answered = page.waitForURL("**/result?*").then(() => true);
  const stopped = page.click("text=Stop early").then(() => page.click("text=Stop and keep")).then(() => false);
  stopped.catch(() => {}); // where there is nothing left to stop
  seen.ended = await Promise.race([answered, stopped]);
  await answered;
  seen.heading = await page.textContent("h1");
  seen.text = await page.textContent("pre");
  await shot("answer");
  return seen;
};
