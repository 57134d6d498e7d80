// Keeps one Chromium for all tests of a package, and runs a script of this folder for each line that it reads.
// Usage: node browser.mjs CHROMIUM
//
// A line is {"id", "script", "args", "limit"}; the answer is {"id", "seen"} or {"id", "error"}. A script exports an asynchronous
// function of open(options), which returns a page in a context of its own, and of its arguments; what it returns was seen.
// A walk may take limit ms, 0 is forever. The scripts assert nothing. When nobody can send more lines, the browser ends.
import { chromium } from "playwright-core"; // drives the system's Chromium; nothing is downloaded
import { createInterface } from "node:readline";

const browser = await chromium.launch({
  executablePath: process.argv[2], timeout: 0,
  // The watchdog ends the process that draws when it got no CPU for some seconds, and frames stop.
  args: ["--no-sandbox", "--disable-gpu", "--disable-gpu-watchdog", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US"],
});
const run = async ({ id, script, args, limit }) => {
  const contexts = [];
  const open = async (options) => {
    const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, locale: "en-US", ...options });
    contexts.push(context);
    context.setDefaultTimeout(0); // a step waits as long as the walk may
    return context.newPage();
  };
  // Where the pages close, the step that waits for one fails, and its error says for what.
  const late = limit > 0 && setTimeout(() => contexts.forEach((context) => context.close().catch(() => {})), limit);
  let answer;
  try {
    const { default: walk } = await import(new URL(script, import.meta.url));
    answer = { id, seen: await walk(open, ...args) };
  } catch (error) {
    answer = { id, error: String(error?.stack ?? error) };
  }
  clearTimeout(late);
  await Promise.all(contexts.map((context) => context.close())).catch(() => {});
  process.stdout.write(JSON.stringify(answer) + "\n");
};
for await (const line of createInterface({ input: process.stdin })) run(JSON.parse(line));
await browser.close();
process.exit();
