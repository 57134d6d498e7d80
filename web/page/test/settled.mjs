// settled waits until a page has drawn what was asked of it: two frames, between which its resize observers and
// effects run, and what those put off.
export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
