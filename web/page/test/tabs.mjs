// Watches a run in six tabs of one browser, closes one, stops the run, and returns what the others saw.
// Arguments: URL
//
// It asserts nothing: web/live/browser_test.go knows what the run held.
export default async (open, url) => {
  const seen = { console: [], errors: [], foreign: [], overflow: {}, tabs: [] };
  const first = await open();
  const tabs = [first];
  while (tabs.length < 6) tabs.push(await first.context().newPage());
  const streams = new Set(), asks = new Set();
  for (const tab of tabs) {
    tab.on("pageerror", (e) => seen.errors.push(String(e)));
    tab.on("request", (r) => { if (r.url().includes("/events?")) (r.url().includes("&once") ? asks : streams).add(tab); });
    await tab.goto(url);
  }
  const windows = (tab, n) => tab.waitForFunction((n) => Number(document.documentElement.dataset.windows) >= n, n);
  for (const tab of tabs) await windows(tab, 80);
  await tabs.shift().close(); // the viewer that came first goes away
  const now = await tabs[0].evaluate(() => Number(document.documentElement.dataset.windows));
  for (const tab of tabs) await windows(tab, now + 20);
  seen.missed = String((await Promise.all(tabs.map((tab) => tab.evaluate(() => Number(document.documentElement.dataset.missed))))).reduce((a, b) => a + b));
  // A stream whose first event is late is taken for one that is held back, and its tab asks as well: on a busy machine that
  // is nobody's fault, so that only tabs without a stream count.
  seen.streams = streams.size;
  seen.asking = [...asks].filter((tab) => !streams.has(tab)).length;
  await tabs[0].click("text=Stop early");
  await tabs[0].click("text=Stop and keep");
  for (const tab of tabs) {
    await tab.waitForSelector("html[data-report]");
    seen.tabs.push(await tab.textContent("h1"));
  }
  return seen;
};
