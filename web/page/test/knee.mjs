// Watches two steps of a real search for the knee in a browser, or its soak, ends the search, and returns what it saw up to
// the answer; or that redline was gone before the page had the answer.
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
  // Polled by the clock: a browser that gets no CPU draws no frames.
  const polling = 200;
  // It closes the address once the page has read the answer, which a starved browser shows only later: the page is waited for.
  const gone = new Promise((away) => {
    const closed = () => page.waitForURL("**/result?*", { timeout: 30_000, waitUntil: "commit" }).catch(() => away({ gone: true }));
    const ask = () => fetch(url).then((r) => r.body?.cancel()).then(() => setTimeout(ask, 1000), closed);
    ask();
  });
  while (seen.folders.length < 2 && !seen.phases.at(-1)?.startsWith("soak: ")) {
    // A step that the page has not shown, with windows of its load; or that the search has ended by itself, which it
    // does where the generator gets no CPU. Read in one piece, because the next step may begin between two.
    const shown = await Promise.race([gone, page.waitForFunction((before) => {
      if (location.pathname.endsWith("/result")) return { ended: true };
      const text = (selector) => document.querySelector(selector)?.textContent ?? "";
      const folder = text("footer"), phase = text(".live-state > span:nth-child(2)");
      return folder !== "" && !before.includes(folder) && /\d/.test(text("[aria-label='The last window']")) && { folder, phase };
    }, seen.folders, { polling }).then((handle) => handle.jsonValue())]);
    if (shown.gone) return { ...seen, ...shown };
    if (shown.ended) break;
    seen.folders.push(shown.folder);
    seen.phases.push(shown.phase);
    await shot("step-" + seen.folders.length);
  }
  const answered = page.waitForURL("**/result?*").then(() => true);
  const stopped = page.click("text=Stop early").then(() => page.click("text=Stop and keep")).then(() => false);
  stopped.catch(() => {}); // where there is nothing left to stop
  seen.ended = (await Promise.race([gone, answered, stopped])) === true;
  if ((await Promise.race([gone, answered])).gone) return { ...seen, gone: true };
  seen.heading = await page.textContent("h1");
  seen.text = await page.textContent("pre");
  await shot("answer");
  return seen;
};
