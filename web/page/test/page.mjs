// Opens a report in a real browser and returns what it saw.
// Arguments: PAGE [SCREENSHOT-DIR]
//
// It asserts nothing: web/browser_test.go knows what the record held.
import { pathToFileURL } from "node:url";
import path from "node:path";
import { settled } from "./settled.mjs";

export default async (open, page_, shots) => {
  const url = pathToFileURL(page_).href;
  const seen = { console: [], requests: [], errors: [], overflow: {} };
  const page = await open();
  page.on("console", (m) => { if (m.type() !== "log") seen.console.push(`${m.type()}: ${m.text()}`); });
  page.on("pageerror", (e) => seen.errors.push(String(e)));
  page.on("request", (r) => { if (r.url() !== url) seen.requests.push(r.url().slice(0, 200)); });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  seen.opened = Math.round(await page.evaluate(() => performance.now()));
  await page.waitForSelector("html[data-complete]");
  await settled(page);
  Object.assign(seen, await page.evaluate(() => {
    // drawn counts the pixels of a canvas that are not transparent.
    const drawn = (canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) n++;
      return n;
    };
    return {
      title: document.title,
      headline: document.querySelector("h1").textContent,
      findings: document.querySelectorAll(".finding").length,
      canvases: [...document.querySelectorAll(".chart canvas")].map((c) => ({ chart: c.closest(".chart").id, pixels: drawn(c) })),
      bands: document.querySelectorAll(".band .bar").length,
      parts: document.querySelectorAll(".band .bar i").length,
      timelines: document.querySelectorAll(".timelines svg").length,
      stories: [...document.querySelectorAll(".story")].map((e) => ({ open: e.open, lead: e.querySelector("summary").textContent, steps: e.querySelectorAll("tbody tr").length })),
      injected: document.querySelectorAll("img, iframe, object").length,
      unnamed: [...document.querySelectorAll("button, a, select, input, summary, [role=img]")]
        .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 120)),
    };
  }));
  if (await page.locator("#chart-throughput").count()) {
    await page.locator("#chart-throughput .u-over").scrollIntoViewIfNeeded();
    const box = await page.locator("#chart-throughput .u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await settled(page);
    seen.instants = await page.$$eval("#series .chart .instant", (all) => all.map((e) => e.textContent));
    seen.reading = await page.textContent("#chart-throughput .reading");
    // Dragging over one chart zooms all.
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector("button:has-text('Show the whole run')");
    seen.zoomed = true;
    await page.click("button:has-text('Show the whole run')");
    await page.click("#chart-throughput summary");
    await page.waitForSelector("#chart-throughput tbody tr");
    seen.tableRows = await page.locator("#chart-throughput tbody tr").count();
  }
  if (await page.locator("#explorer").count()) {
    await page.selectOption("#explorer", "0");
    await page.waitForSelector("#chart-other canvas");
  }
  if (await page.locator("#flames").count()) {
    seen.flames = { tabs: await page.$$eval("#flames .flame-tabs input", (all) => all.map((e) => e.value)), painted: [] };
    for (const id of seen.flames.tabs) {
      await page.check(`#flames input[value=${id}]`, { force: true });
      await page.waitForSelector(`.flame-graph[data-graph=${id}] canvas[data-painted]`);
      const [at, cpu] = [page.locator(".flame-graph canvas").first(), id === "cpu"];
      seen.flames.painted.push(await at.evaluate((c) => c.height));
      if (!cpu) continue;
      seen.flames.first = Number(await at.getAttribute("data-painted"));
      seen.flames.unpacked = Number(await page.getAttribute(".flame-graph", "data-unpacked"));
      const box = await at.boundingBox();
      // In the third row below the root; the widest box is the leftmost.
      const third = { x: box.x + (seen.flames.tabs.length > 1 ? box.width / 2 : 3), y: box.y + 3 * 19 + 9 };
      await page.mouse.move(third.x, third.y);
      seen.flames.card = await page.textContent(".flame-card");
      await page.mouse.click(third.x, third.y);
      await page.waitForSelector(".flame-reset");
      seen.flames.zoom = Number(await at.getAttribute("data-painted"));
      seen.flames.chosen = await page.textContent(".flame-chosen code");
      await page.click(".flame-reset");
      await page.fill(".flame-search input", "JSON");
      await page.waitForFunction(() => document.querySelector(".flame-found").textContent);
      seen.flames.found = await page.textContent(".flame-found");
      await page.fill(".flame-search input", "");
      await at.focus();
      for (const key of ["ArrowDown", "ArrowDown", "Enter", "Escape"]) await page.keyboard.press(key);
      await page.click(".flame-graph summary");
      await page.click(".function-row:not(.head) button");
      await page.waitForSelector(".flame-sandwich canvas[data-painted]");
      seen.flames.sandwich = await page.textContent(".flame-sandwich b");
      await page.click(".flame-sandwich button");
      await page.check("text=inverted");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download pprof")]);
      await download.saveAs(page_ + ".pb.gz");
    }
  }
  for (const [name, width, scheme] of [["laptop", 1366, "light"], ["laptop-dark", 1366, "dark"], ["phone", 390, "light"], ["phone-dark", 390, "dark"], ["wide", 2560, "light"], ["wide-dark", 2560, "dark"]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    seen.overflow[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (!shots) continue;
    await page.mouse.move(0, 0);
    await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
    for (const id of ["findings", "load", "anatomy", "flames", "series", "slow", "statements", "sources", "environment"]) {
      const part = page.locator("#" + id);
      if (await part.count()) await part.screenshot({ path: path.join(shots, `${name}-${id}.png`) });
    }
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: path.join(shots, `${name}-top.png`) });
  }
  // On paper, from a dark screen: canvases are as wide as what holds them, and drawn in the colours of light.
  await page.setViewportSize({ width: 2560, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  await settled(page);
  await page.evaluate(() => addEventListener("beforeprint", () => {
    const canvases = [...document.querySelectorAll(".plot canvas, .flame canvas")];
    window.paper = {
      canvases: canvases.length, ink: getComputedStyle(document.documentElement).getPropertyValue("--ink"),
      off: canvases.filter((c) => c.getBoundingClientRect().right > 701 || Math.abs(c.width / devicePixelRatio - c.getBoundingClientRect().width) > 1).map((c) => `${c.closest("figure, .card").id}: ${c.width} to ${c.getBoundingClientRect().right}`),
    };
  }));
  await page.pdf(shots ? { path: path.join(shots, "print.pdf"), preferCSSPageSize: true } : {});
  seen.paper = await page.evaluate(() => ({ ...window.paper, left: document.documentElement.className }));
  return seen;
};
