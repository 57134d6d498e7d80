// Reads a page as somebody with other eyes or without a mouse does, and returns what stands in the way:
// contrast in light and dark, the order and visibility of focus, motion, headings.
// Arguments: PAGE|URL SELECTOR   (it looks once the page shows the selector)
//
// It asserts nothing: web/webtest/readable.go knows what is too little.
import { pathToFileURL } from "node:url";
import { settled } from "./settled.mjs";

export default async (open, page_, selector) => {
  const seen = { faint: [], unseen: [], focused: 0, moving: [], headings: [] };
  const page = await open({ reducedMotion: "reduce" });
  await page.goto(/^http:/.test(page_) ? page_ : pathToFileURL(page_).href);
  await page.waitForSelector("html[data-complete]");
  await page.waitForSelector(selector);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await settled(page);
    seen.faint.push(...await page.evaluate((scheme) => {
      const parse = (c) => {
        const srgb = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.]+))?/.exec(c);
        if (srgb) return [255 * srgb[1], 255 * srgb[2], 255 * srgb[3], Number(srgb[4] ?? 1)];
        const [r, g, b, a = 1] = (c.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
        return [r, g, b, a];
      };
      const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
      const behind = (e) => {
        const layers = [];
        for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
      };
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const found = new Map();
      for (const e of document.querySelectorAll("body *")) {
        if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest(".vh, .skip, script, noscript, option")) continue;
        const style = getComputedStyle(e), below = behind(e);
        const [a, b] = [light(over(parse(style.color), below)), light(below)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
        if (ratio < (large ? 3 : 4.5)) found.set(`${scheme}: ${e.tagName.toLowerCase()}.${e.className} ${ratio.toFixed(2)}`, e.textContent.slice(0, 40));
      }
      return [...found].map(([where, text]) => `${where} "${text}"`);
    }, scheme));
  }
  seen.moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => {
    const s = getComputedStyle(e);
    return s.animationName !== "none" || s.scrollBehavior === "smooth" || s.transitionDuration.split(", ").some((d) => parseFloat(d) > 0) && s.transitionProperty !== "none" && s.transitionProperty !== "all";
  }).map((e) => e.tagName + "." + e.className));
  seen.unnamed = await page.evaluate(() => [...document.querySelectorAll("button, a, select, input, textarea, summary, progress, canvas, [role=img], [role=application], [tabindex]")]
    .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.getAttribute("aria-labelledby") || e.closest("[role=img], [role=application]") !== e && e.closest("[role=img], [role=application]"))).map((e) => e.outerHTML.slice(0, 120)));
  seen.headings = await page.$$eval("h1, h2, h3, h4", (all) => all.map((e) => Number(e.tagName[1])));
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return null;
      const [box, s, next] = [e.getBoundingClientRect(), getComputedStyle(e), e.nextElementSibling];
      const ringed = (s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1;
      return { name: e.textContent.trim().slice(0, 30) || e.getAttribute("aria-label") || e.placeholder || e.type, visible: (ringed(s) || (next && ringed(getComputedStyle(next)))) && (box.width > 0 || Boolean(e.labels?.length)) };
    });
    if (!at) break;
    if (i === 0) seen.first = at.name;
    seen.focused++;
    if (!at.visible) seen.unseen.push(at.name);
  }
  return seen;
};
