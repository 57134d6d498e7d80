import type { Page } from "./data";
import { Figure } from "./figure";
import { atLeast, percent, rate } from "./format";
import { Code } from "./name";

// Headline answers the one question before anything else is said.
export function Headline({ page }: { page: Page }) {
  const { headline, summary } = page;
  const load = summary.load;
  const kind = headline.invalid ? "invalid" : headline.found ? "found" : headline.state ? "open" : "healthy";
  const place = page.places?.[0];
  // Where every request failed there is no latency: it is that of successes.
  const latency = (key: "p50" | "p95" | "p99" | "max", percentile: number) => (load.latency_ns.max > 0 ? atLeast(load.latency_ns[key], load.latency_ns, percentile) : "–");
  return (
    <header class={"headline " + kind}>
      <div class="inner">
        <p class="brand"><b>redline</b> <span>{page.run.target.url || page.run.id}</span></p>
        {headline.invalid && <p class="banner" role="alert"><b>INVALID</b> {headline.invalid}</p>}
        {headline.state && <p class="banner state">{headline.state}</p>}
        {headline.found && <p class="eyebrow">What stops it</p>}
        <h1>{headline.title}</h1>
        {headline.found && place && <p class="place"><Code text={place} /></p>}
        <p class="lead">{headline.lead}</p>
        {load.requests > 0 && (
          <dl class="figures">
            <Figure name="requests/s" value={rate(load.rate)} note={load.intended_rate > 0 ? `of ${rate(load.intended_rate)} intended` : `${load.connections} connections`} />
            <Figure name="p50" value={latency("p50", 50)} />
            <Figure name="p95" value={latency("p95", 95)} />
            <Figure name="p99" value={latency("p99", 99)} />
            <Figure name="max" value={latency("max", 100)} />
            <Figure name="errors" value={percent(load.errors / load.requests)} bad={load.errors > 0} />
          </dl>
        )}
        {(page.thresholds ?? []).length > 0 && (
          <ul class="thresholds" aria-label="Thresholds">
            {page.thresholds!.slice(0, 8).map((t, i) => (
              <li class={t.ok ? "ok" : "bad"} key={i}>
                <span aria-hidden="true">{t.ok ? "✓" : "✗"}</span><span class="vh">{t.ok ? "met:" : "failed:"}</span> <code>{t.expr}</code> <span>{t.value}</span>
              </li>
            ))}
            {page.thresholds!.length > 8 && <li><a href="#thresholds">all {page.thresholds!.length}</a></li>}
          </ul>
        )}
        {((headline.path ?? []).length > 0 || (headline.ledger ?? []).length > 0) && (
          <div class="accounts">
            {(headline.path ?? []).length > 0 && (
              <section class="path" aria-label="Where a request's time goes">
                <h2>Where a request's time goes</h2>
                <ul>
                  {headline.path!.map((text, i) => (
                    <li key={i}><b>{headline.shares?.[i]}</b><i class="meter" aria-hidden="true"><i style={{ width: `${parseFloat(headline.shares?.[i] ?? "0") || 0}%` }} /></i><span>{text}</span></li>
                  ))}
                </ul>
              </section>
            )}
            {(headline.ledger ?? []).length > 0 && <div class="ledger">{headline.ledger!.map((line, i) => <p key={i}>{line}</p>)}</div>}
          </div>
        )}
      </div>
    </header>
  );
}
