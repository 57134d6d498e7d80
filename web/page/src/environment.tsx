import type { ComponentChildren } from "preact";
import type { Page } from "./data";
import { count, duration, size } from "./format";

export function Sources({ page }: { page: Page }) {
  const sources = page.summary.sources ?? [];
  if (sources.length === 0) return null;
  return (
    <section id="sources" aria-labelledby="sources-title">
      <h2 id="sources-title">Sources and their accuracy</h2>
      <div class="card"><div class="scroll">
        <table class="blocks">
          <thead>
            <tr>
              <th scope="col">source</th><th scope="col" class="num">samples</th><th scope="col" class="num">aligned within, p50</th><th scope="col" class="num">p99</th>
              <th scope="col" class="num">own CPU</th><th scope="col">note</th>
            </tr>
          </thead>
          <tbody>
            {sources.map((s) => (
              <tr key={s.name}>
                <th scope="row" class="nowrap"><span class={s.ok ? "ok" : "bad"} aria-hidden="true">{s.ok ? "✓" : "✗"}</span><span class="vh">{s.ok ? "works:" : "does not work:"}</span> {s.name}</th>
                <td class="num" data-label="samples">{count(s.samples)}</td>
                <td class={"num" + (s.samples > 0 ? "" : " empty")} data-label="aligned within">{s.samples > 0 ? duration(s.align_error_ns.p50) : "–"}</td>
                <td class={"num" + (s.samples > 0 ? "" : " empty")} data-label="p99">{s.samples > 0 ? duration(s.align_error_ns.p99) : "–"}</td>
                <td class={"num" + (s.cpu_ns > 0 ? "" : " empty")} data-label="own CPU">{s.cpu_ns > 0 ? duration(s.cpu_ns) : "–"}</td>
                <td class={s.why ? "own" : "empty"}>{s.why}</td>
              </tr>
            ))}
          </tbody>
        </table></div>
        <p class="note">Aligned within: the measured bound on the error of a source's timestamps against the run's clock.</p>
      </div>
    </section>
  );
}

export function Environment({ page }: { page: Page }) {
  const { run } = page;
  const { host, target } = run;
  const facts: [string, ComponentChildren][] = [
    ["Begun", run.clock.epoch_wall.startsWith("0001") ? "" : run.clock.epoch_wall.replace("T", " ").replace(/\.\d+/, "")],
    ["Run", run.id],
    ["State", run.why ? `${run.state}: ${run.why}` : run.state],
    ["Target", [target.how, target.url].filter(Boolean).join(", ")],
    ["Command", target.command && <code>{target.command.join(" ")}</code>],
    ["Program", [target.main_package || target.module, target.revision && `at ${target.revision.slice(0, 12)}`].filter(Boolean).join(" ")],
    ["Go", [target.go_version, target.gomaxprocs && `GOMAXPROCS ${target.gomaxprocs}`, target.probe ? "probe linked in" : "no probe"].filter(Boolean).join(", ")],
    ["Host", [host.cpu_model, host.cpus > 0 && `${host.cpus} CPUs`, host.memory_bytes > 0 && size(host.memory_bytes)].filter(Boolean).join(", ")],
    ["System", [host.os && `${host.os}/${host.arch}`, host.kernel].filter(Boolean).join(", ")],
    ["Windows", `${duration(run.window_ns)} each; steady from ${(run.steady.from_ns / 1e9).toFixed(1)} s to ${(run.steady.to_ns / 1e9).toFixed(1)} s`],
    ["Bundle", page.summary.run],
  ];
  return (
    <section id="environment" aria-labelledby="environment-title">
      <h2 id="environment-title">Environment</h2>
      <div class="card">
        <dl class="facts">{facts.filter(([, v]) => v).map(([name, v]) => [<dt key={name}>{name}</dt>, <dd key={name + "v"}>{v}</dd>])}</dl>
        {target.exit && (
          <div class="exit">
            <h3>The target exited during the run</h3>
            <p>{target.exit.status}, {(target.exit.at_ns / 1e9).toFixed(2)} s into the run. Its last lines:</p>
            <pre>{(target.exit.stderr_tail ?? []).join("\n")}</pre>
          </div>
        )}
        {run.scenario != null && <details><summary>Scenario</summary><pre>{JSON.stringify(run.scenario, null, 2)}</pre></details>}
      </div>
    </section>
  );
}
