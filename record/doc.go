// Package record owns the run bundle: the directory that one run of redline
// leaves behind and that every later stage (anatomy, diagnosis, verdicts,
// reports) reads instead of the world.
//
// A Writer writes it during the run, and Open reads it as a Record. The parts
// have packages of their own below: timebase the clock; series, windows and histogram
// the figures over time; profiles, stacks and code what was on the CPU; breakdown,
// operation, database and findings the schemas of the JSON files; disk how files are
// written.
//
// It refuses to interpret: no threshold, percentile choice or cause lives here, and it
// imports no other package of redline's except redact, so that a bundle can be opened
// anywhere.
//
// Layout of a bundle:
//
//	run.json         schema, state, scenario, environment, target, sources, warnings
//	windows.parquet  one row per (window, series)
//	latency.hlog     HdrHistogram interval log, tagged step/kind
//	slow.jsonl       bounded sample of the slowest requests
//	spans.jsonl      spans of sampled requests, and the slowest others
//	profiles/        pprof files, named by type and window range
//	traces/          Go execution traces, named by window range
//	operations.json  the target's requests to databases and other services
//	statements.json  SQL statements seen, by query id, with plans
//	compiler.json    the compiler's remarks on hot lines
//	anatomy.json     request anatomy
//	findings.json    findings, ranked
//	summary.json     the command line's JSON contract
//	report.html      one file, opens offline
//
// During a run, windows are appended to a journal every half second: to windows.journal, and
// from the second minute on to files in journal/. At the close they become Parquet. A bundle
// whose run was killed has state "running" and only the journal; Open reads it and calls it
// aborted.
//
// Designs tried and rejected: one SQLite file (other tools of the field read Parquet,
// pprof and hlog, but none would read redline's tables), and keeping raw samples per request
// (memory grows with the run).
package record
