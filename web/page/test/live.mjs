// Watches a run in a real browser, presses its buttons, loses the connection and finds it again, and
// returns what it saw.
// Arguments: URL whole|short [SCREENSHOT-DIR]
//
// It asserts nothing: web/live/browser_test.go knows what the run held.
import path from "node:path";
import { drawn } from "./drawn.mjs";
import { settled } from "./settled.mjs";

// late is a busy browser's: it reports that a chart is out of sight together with the next change, and calls each chart's
// observer once more right after the chart left the page, because it had that call in its queue already.
const late = () => {
  const watched = new Map();
  window.IntersectionObserver = class extends IntersectionObserver {
    constructor(call, options) {
      let kept = [];
      super((changes, observer) => {
        const all = [...kept, ...changes];
        kept = all.every((c) => !c.isIntersecting) ? all : [];
        if (kept.length === 0) call(all, observer);
      }, options);
      this.call = call;
    }
    observe(element) { watched.set(element, this); super.observe(element); }
  };
  new MutationObserver(() => {
    for (const [target, observer] of watched) {
      if (target.isConnected) continue;
      watched.delete(target);
      observer.call([{ isIntersecting: true, target }], observer);
    }
  }).observe(document, { childList: true, subtree: true });
};

export default async (open, url, how, shots) => {
  const seen = { console: [], errors: [], foreign: [], overflow: {} };
  const page = await open();
  // A lost connection is the browser's own message, and what this test is about.
  page.on("console", (m) => { if (!/ERR_(CONNECTION|INCOMPLETE|EMPTY)|Failed to load resource/.test(m.text())) seen.console.push(`${m.type()}: ${m.text()}`); });
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  page.on("request", (r) => { if (new URL(r.url()).host !== new URL(url).host && !r.url().startsWith("data:")) seen.foreign.push(r.url().slice(0, 200)); });
  const shot = async (name, whole) => { if (shots) await page.screenshot({ path: path.join(shots, name + ".png"), fullPage: whole }); };
  const windows = (n) => page.waitForFunction((n) => Number(document.documentElement.dataset.windows) >= n, n);
  const now = () => page.evaluate(() => Number(document.documentElement.dataset.windows));
  await page.addInitScript(late);
  await page.goto(url);
  await windows(60);
  await drawn(page, "chart-throughput");
  await page.waitForSelector("#findings .finding");
  seen.findings = await page.$$eval("#findings .finding h3", (all) => all.map((e) => e.textContent));
  seen.soFar = await page.textContent("#findings .note");
  seen.charts = await page.$$eval("#series .chart", (all) => all.map((e) => e.id));
  for (const id of seen.charts) await drawn(page, id);
  seen.drawn = await page.$$eval("#series canvas", (all) => all.filter((c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) n++;
    return n > 1000;
  }).length);
  seen.clock = await page.textContent("#clock");
  seen.readings = await page.$$eval("#chart-throughput .reading", (all) => all.map((e) => e.textContent));
  seen.unnamed = await page.evaluate(() => [...document.querySelectorAll("button, a, select, input, summary, [role=img]")]
    .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 120)));
  await page.evaluate(() => scrollTo(0, 0));
  await shot("live", true);
  for (const [name, width, scheme] of [["phone", 390, "light"], ["wide", 2560, "dark"], ["laptop", 1366, "light"]].slice(how === "whole" ? 0 : 2)) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    seen.overflow[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await shot("live-" + name, true);
  }
  if (how === "whole") {
    // Dragging holds the charts, and the button lets them go on.
    await page.locator("#chart-throughput .u-over").scrollIntoViewIfNeeded();
    const box = await page.locator("#chart-throughput .u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.click("button:has-text('follow the run again')");
    await page.mouse.move(0, 0);
    await page.waitForSelector("#series .hint"); // it follows again
    await page.evaluate(() => scrollTo(0, 0));
    // The server cuts the connection at this mark and refuses the next ones.
    await page.fill("#mark-text", "cut");
    await page.click("text=Mark this moment");
    await page.waitForSelector(".pill.away");
    seen.away = await page.textContent(".banner[role=alert]");
    await shot("live-away", false);
    const before = await now();
    await page.waitForSelector(".pill:not(.away)");
    await windows(before + 5);
    await page.waitForSelector(".marks li");
    seen.marks = await page.$$eval(".marks li", (all) => all.map((e) => e.textContent));
  }
  seen.missed = await page.evaluate(() => document.documentElement.dataset.missed);
  await page.click("text=Stop early");
  await page.click("text=Stop and keep");
  await page.waitForSelector("html[data-report]");
  seen.report = await page.textContent("h1");
  seen.figures = await page.$$eval(".figures dd", (all) => all.map((e) => e.firstChild.textContent));
  seen.injected = await page.locator("img, iframe, object").count();
  seen.title = await page.title();
  await page.waitForSelector("#series canvas");
  await shot("live-ended", true);
  return seen;
};
