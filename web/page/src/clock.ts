// The time of day at an instant of the run, on the clock and in the zone of the machine that ran the load: what logs and
// dashboards of others are searched by.

let epoch: number | null = null; // ms, of the run's instant zero, in the zone of the run
let zone = "";

// setClock takes the run's epoch as run.json has it (RFC 3339).
export function setClock(wall: string | undefined) {
  const found = /^(\d{4})-.*?(Z|([+-])(\d\d):(\d\d))$/.exec(wall ?? "");
  const utc = found && found[1] !== "0001" ? Date.parse(wall!) : NaN;
  const offset = found?.[3] ? (found[3] === "-" ? -1 : 1) * (60 * Number(found[4]) + Number(found[5])) : 0;
  epoch = Number.isFinite(utc) ? utc + offset * 60_000 : null;
  zone = offset === 0 ? "UTC" : "UTC" + found![2];
}

// zoneName is the zone of all times of day; "" where the run has none.
export function zoneName(): string { return epoch == null ? "" : zone; }

// timeOfDay writes the time of day at an instant of the run, in seconds; "" where the run has none.
export function timeOfDay(s: number, decimals = 0): string {
  if (epoch == null) return "";
  const unit = 10 ** (3 - decimals);
  return new Date(Math.round((epoch + 1e3 * s) / unit) * unit).toISOString().slice(11, decimals > 0 ? 20 + decimals : 19);
}

// instantText writes an instant of the run, with its time of day where the run has one.
export function instantText(s: number): string {
  return [`${s.toFixed(2)} s`, timeOfDay(s, 1)].filter(Boolean).join(" · ");
}

// clockNote says which clock the time axes show; "" where the run has none.
export function clockNote(): string {
  return zoneName() && `Below the run's seconds: the time of day (${zoneName()}) on the machine that ran the load.`;
}
