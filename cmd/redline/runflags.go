package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag" // cobra's flags

	"github.com/redline-go/redline/scenario"
)

// The flags of `redline run`, by what they are about.

// loadFlags are how the requests are timed.
func (f *runFlags) loadFlags(flags *pflag.FlagSet) {
	flags.IntVarP(&f.Connections, "connections", "c", 0, "closed loop over this many connections (default 64); with --rate or --replay, the most to open")
	flags.StringVar(&f.Rate, "rate", "", "open loop: `requests` due per second (2000/s)")
	flags.StringVar(&f.PerConnection, "rate-per-connection", "", "open loop: `requests` due per second on each of the -c connections (10/s)")
	flags.BoolVar(&f.Poisson, "poisson", false, "requests of --rate are due at random, as from many independent users, not evenly")
	flags.StringVar(&f.Replay, "replay", "", "send the requests of this access log `file` (nginx combined, or JSON lines) to the URL, at the log's times")
	flags.StringSliceVar(&f.ReplayMethods, "replay-methods", nil, "of --replay: send requests of these `methods` (default GET,HEAD,OPTIONS: what may change data is sent only when it is named)")
	flags.Float64Var(&f.Speed, "speed", 0, "of --replay: 2 is twice as fast as the log was written (default 1)")
	flags.StringVar(&f.Think, "think", "", "closed loop: wait this `time` after each answer (200ms, \"min=100ms,max=300ms\", or \"mean=200ms\" for exponential)")
	flags.Int64VarP(&f.Requests, "requests", "n", 0, "end after this many measured requests; with -d, whichever is first")
	flags.DurationVarP(&f.Duration, "duration", "d", 0, "measured time, after the warm-up (default 30s, or until -n or --replay end)")
	flags.DurationVar(&f.warmup, "warmup", scenario.DefaultWarmup, "load that is not measured, first (with --replay: none)")
	flags.DurationVar(&f.Timeout, "timeout", 0, "for each request (default 10s)")
	flags.DurationVar(&f.Grace, "grace", 0, "wait for requests in flight at the end (default 2s)")
	flags.IntVar(&f.Streams, "streams", 0, "requests under way at once on each connection, for --http2 and grpc (default 1)")
	flags.StringVar(&f.ConnectRate, "connect-rate", "", "most `connections` to open per second (500/s; default as fast as they open)")
	flags.StringArrayVar(&f.Sources, "source", nil, "local `address` that connections start from; may be repeated, they are used in turn")
	flags.BoolVarP(&f.yes, "yes", "y", false, "put load on hosts that are not this one and that the scenario does not name, without asking")
	flags.IntVar(&f.Threads, "threads", 0, "event loops of the generator (default: it decides)")
}

// protocolFlags are what is sent, and over what.
func (f *runFlags) protocolFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Method, "method", "X", "", "of the request, for a URL (default GET, or POST with --body)")
	flags.StringVar(&f.Body, "body", "", "of the request, for a URL")
	flags.StringVar(&f.Body, "data", "", "the same as --body: the message of a grpc (JSON), ws or tcp URL")
	flags.StringArrayVarP(&f.Headers, "header", "H", nil, "`\"Name: value\"` to add to every request; may be repeated")
	flags.BoolVar(&f.Follow, "follow", false, "follow redirects to hosts that the scenario names")
	flags.BoolVar(&f.HTTP2, "http2", false, "HTTP/2: by ALPN over https, with prior knowledge over http")
	flags.StringVar(&f.CACert, "cacert", "", "PEM `file` of the authorities that the server is checked against (default the system's)")
	flags.StringVar(&f.Cert, "cert", "", "PEM `file` of the client certificate")
	flags.StringVar(&f.Key, "key", "", "PEM `file` of the client certificate's key")
	flags.StringVar(&f.ServerName, "server-name", "", "`name` that the server's certificate must hold (default the URL's host)")
	flags.BoolVar(&f.Insecure, "insecure", false, "do not check the server's certificate")
	flags.StringVar(&f.DescriptorSet, "descriptor-set", "", "schema of a grpc URL: a `file` of protoc --include_imports --descriptor_set_out (default: ask the server by reflection)")
}

// targetFlags are the service under test and what is watched of it.
func (f *runFlags) targetFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Exec, "exec", "", "start the target with this `command`")
	flags.StringVar(&f.Build, "build", "", "build this main `package` with the probe injected, and start it")
	flags.StringVar(&f.BuildFlags, "build-flags", "", "with --build: `flags` of go build (-tags=sqlite -ldflags='-s -w')")
	flags.StringVar(&f.Dir, "dir", "", "start the target in this `directory` (default the present one)")
	flags.BoolVar(&f.Plain, "no-instrument", false, "with --build: leave out the hooks in database/sql, net/http, pgx, gRPC and go-redis that count statements and calls (operations.json); findings then infer who asks for a statement")
	flags.IntVar(&f.PID, "pid", 0, "the target's process, when it runs already")
	flags.StringVar(&f.Ready, "ready", "", "`URL` that answers below 500 once the target is ready")
	flags.StringVar(&f.Pprof, "pprof", "", "base `URL` of the target's net/http/pprof (http://host:port/debug/pprof)")
	flags.StringVar(&f.Postgres, "postgres", "", "`DSN` of the target's PostgreSQL, to watch statements and sessions")
	f.OTLPToken = os.Getenv("REDLINE_OTLP_TOKEN") // a flag would show it to whoever lists processes
	flags.StringVar(&f.OTLP, "otlp", "", "receive OpenTelemetry spans (OTLP over HTTP and gRPC) at this `address`; \"on\" for ports 4317 and 4318 of this host")
	flags.StringArrayVar(&f.Thresholds, "threshold", nil, "pass/fail `expression` (\"p99 < 42ms\"); may be repeated")
	flags.BoolVar(&f.blind, "no-observe", false, "put load on the target and watch nothing: figures of the load alone, at the least cost")
	flags.StringArrayVar(&f.Redact, "redact", nil, "`header` whose value must not be recorded; may be repeated")
}

// exportFlags are the tools that the run is shown to while it goes on.
func (f *runFlags) exportFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Export.Prometheus, "prometheus", "", "show figures to Prometheus: an `address` to be scraped at (127.0.0.1:9464), or the URL of remote write (http://host:9090/api/v1/write)")
	flags.StringVar(&f.Export.OTLP, "otlp-metrics", "", "send figures to this `URL` as OTLP metrics over HTTP (http://host:4318)")
	flags.StringVar(&f.Export.Pyroscope, "pyroscope", "", "push profiles to the Pyroscope at this `URL` (http://host:4040)")
	f.Export.PrometheusToken = os.Getenv(scenario.PrometheusTokenVariable)
	f.Export.OTLPToken = os.Getenv(scenario.OTLPMetricsTokenVariable)
	f.Export.PyroscopeToken = os.Getenv(scenario.PyroscopeTokenVariable)
}

// outputFlags are what becomes of the results.
func (f *runFlags) outputFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.out, "out", "o", "", "bundle `directory` (default runs/<time>-<scenario>)")
	flags.BoolVar(&f.json, "json", false, "print summary.json alone on stdout")
	historyFlag(flags, &f.history)
	flags.BoolVar(&f.plain, "plain", false, "plain progress lines even on a terminal")
	flags.BoolVar(&f.all, "all", false, "print every finding in full, what was rejected and not judged, and the slowest requests")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show the target's output on stderr")
	flags.BoolVar(&f.overhead, "measure-overhead", false, "also measure what observation costs the target, by runs with and without it in turn")
	flags.IntVar(&f.pairs, "overhead-pairs", 10, "pairs of runs for --measure-overhead")
}

// completions tell a shell what fits where: files by their kind, and words.
func completions(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	for name, extensions := range map[string][]string{
		"replay": {"log", "jsonl", "ndjson", "json"}, "cacert": {"pem", "crt"}, "cert": {"pem", "crt"}, "key": {"pem", "key"},
		"descriptor-set": {"pb", "binpb", "protoset"},
	} {
		_ = cmd.MarkFlagFilename(name, extensions...) // it fails only for a flag that is not there
	}
	_ = cmd.MarkFlagDirname("out")
	for name, words := range map[string][]string{
		"method": {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}, "think": {"200ms", "min=100ms,max=300ms", "mean=200ms"},
		"rate": {"100/s", "1000/s", "10000/s"}, "rate-per-connection": {"1/s", "10/s"}, "connect-rate": {"100/s", "1000/s"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}
