#!/usr/bin/env bash
# Makes the pictures of the pages that the docs show: docs/pictures/{live,report,compare,shelf}.png, of real
# runs of a service of the corpus. Look at them before they are committed.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
work=$(mktemp -d)
serving=
trap '[ -z "$serving" ] || kill "$serving" 2>/dev/null; rm -rf "$work"' EXIT
[ -d web/page/node_modules/playwright-core ] || (cd web/page && npm ci --ignore-scripts --no-audit --no-fund >/dev/null)

# address FILE: the URL that redline prints into it.
address() {
  local url=
  until url=$(grep -o 'http://127[^ ]*' "$1" | head -1) && [ -n "$url" ]; do sleep 0.1; done
  echo "$url"
}
shot() { (cd "$root/web/page" && node shots.mjs "$@"); }

cd corpus
# At a rate that leaves CPUs idle: findings so far are judged with what nobody else wants.
load=(sick/address-rules/scenario.yaml --rate 3000/s -d 25s --plain)
"$root/bin/redline" run "${load[@]}" -o "$work/runs/before" --web >/dev/null 2>"$work/live.log" &
measuring=$!
shot "$(address "$work/live.log")" "$root/docs/pictures/live.png" "#findings .finding" 18
wait "$measuring"
GOGC=400 "$root/bin/redline" run "${load[@]}" -o "$work/runs/gogc-400" >/dev/null 2>&1

shot "file://$work/runs/before/report.html" "$root/docs/pictures/report.png"
"$root/bin/redline" serve "$work/runs" >"$work/serve.log" 2>/dev/null &
serving=$!
url=$(address "$work/serve.log")
shot "$url" "$root/docs/pictures/shelf.png" .shelf-row 5 420
shot "${url}compare?a=before&b=gogc-400" "$root/docs/pictures/compare.png"
ls -l "$root"/docs/pictures/{live,report,compare,shelf}.png
