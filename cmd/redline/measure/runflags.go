package measure

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag" // cobra's flags

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/scenario"
)

// The flags of `redline run`, by subject.

// LoadFlags set how many requests are sent, and when.
func (f *Flags) LoadFlags(flags *pflag.FlagSet) {
	flags.IntVarP(&f.Connections, "connections", "c", 0, "closed loop over this many connections (default 64); with "+
		"--rate or --replay the upper limit")
	flags.StringVar(&f.Rate, "rate", "", "open loop: `requests` due per second (2000/s)")
	flags.StringVar(&f.PerConnection, "rate-per-connection", "",
		"open loop: `requests` due per second on each of the -c connections (10/s)")
	flags.BoolVar(&f.Poisson, "poisson", false, "with --rate: random arrivals, as from many independent users, instead of "+
		"evenly spaced ones")
	flags.StringVar(&f.Replay, "replay", "", "replay this access log `file` (nginx combined, or JSON lines) against "+
		"the URL, at the log's times")
	flags.StringSliceVar(&f.ReplayMethods, "replay-methods", nil,
		"with --replay: send only these `methods` (default GET,HEAD,OPTIONS; others may change data)")
	flags.Float64Var(&f.Speed, "speed", 0, "with --replay: 2 replays at twice the log's speed (default 1)")
	flags.StringVar(&f.Think, "think", "", "closed loop: wait this `time` after each answer (200ms, "+
		"\"min=100ms,max=300ms\", or \"mean=200ms\" for exponential)")
	flags.Int64VarP(&f.Requests, "requests", "n", 0, "end after this many measured requests; with -d, whichever comes first")
	flags.DurationVarP(&f.Duration, "duration", "d", 0, "measured time, after the warm-up (default 30s, or until -n or --replay ends)")
	flags.DurationVar(&f.warmup, "warmup", scenario.DefaultWarmup, "load before the measured time (with a scenario file or --replay: none)")
	flags.DurationVar(&f.Timeout, "timeout", 0, "limit for each request (default 10s)")
	flags.DurationVar(&f.Grace, "grace", 0, "how long requests in flight may take to end after the load (default 2s, or twice "+
		"the time of the slowest answer)")
	flags.IntVar(&f.Streams, "streams", 0, "concurrent requests per connection, with --http2 and grpc (default 1)")
	flags.StringVar(&f.ConnectRate, "connect-rate", "", "open at most this many `connections` per second (500/s; default no limit)")
	flags.StringArrayVar(&f.Sources, "source", nil, "local `address` to connect from; may be repeated, used in turn")
	flags.BoolVarP(&f.Yes, "yes", "y", false, "load hosts other than this one and those of the scenario without asking")
	flags.IntVar(&f.Threads, "threads", 0, "event loops of the generator (default: chosen by redline)")
}

// ProtocolFlags set the request and its transport.
func (f *Flags) ProtocolFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Method, "method", "X", "", "method of the request (default GET, or POST with --body)")
	flags.StringVar(&f.Body, "body", "", "body of the request, or @`FILE` with it (text, at most 4 MiB)")
	flags.StringVar(&f.Body, "data", "", "same as --body: the message of a grpc (JSON), ws or tcp URL")
	flags.StringArrayVarP(&f.Headers, "header", "H", nil, "`\"Name: value\"` to add to every request; may be repeated")
	flags.BoolVar(&f.Follow, "follow", false, "follow redirects to hosts that the scenario names")
	flags.BoolVar(&f.HTTP2, "http2", false, "use HTTP/2: by ALPN over https, with prior knowledge over http")
	flags.StringVar(&f.CACert, "cacert", "", "PEM `file` of the trusted certificate authorities (default the system's)")
	flags.StringVar(&f.Cert, "cert", "", "PEM `file` of the client certificate")
	flags.StringVar(&f.Key, "key", "", "PEM `file` of the client certificate's key")
	flags.StringVar(&f.ServerName, "server-name", "", "`name` that the server's certificate must carry (default the URL's host)")
	flags.BoolVar(&f.Insecure, "insecure", false, "do not verify the server's certificate")
	flags.StringVar(&f.DescriptorSet, "descriptor-set", "", "schema of a grpc URL: `file` written by protoc "+
		"--include_imports --descriptor_set_out (default: server reflection)")
}

// TargetFlags set the service under test and its sources.
func (f *Flags) TargetFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Exec, "exec", "", "start the target with this `command`")
	flags.StringVar(&f.Build, "build", "", "build this main `package` with the probe injected, and start it")
	flags.StringVar(&f.BuildFlags, "build-flags", "", "with --build: `flags` of go build (-tags=sqlite -ldflags='-s -w')")
	flags.StringVar(&f.Dir, "dir", "", "start the target in this `directory` (default the current one)")
	flags.BoolVar(&f.Plain, "no-instrument", false, "with --build: leave out the hooks that count statements and "+
		"calls; callers are then inferred")
	flags.IntVar(&f.PID, "pid", 0, "process ID of a target that already runs")
	flags.StringVar(&f.Ready, "ready", "", "`URL` that answers with a status below 500 once the target is ready")
	flags.StringVar(&f.Pprof, "pprof", "", "base `URL` of the target's net/http/pprof (http://host:port/debug/pprof)")
	flags.StringVar(&f.Postgres, "postgres", "", "`DSN` of the target's PostgreSQL, to observe statements and sessions")
	f.OTLPToken = os.Getenv("REDLINE_OTLP_TOKEN") // a flag would show it to whoever lists processes
	flags.StringVar(&f.OTLP, "otlp", "", "receive OpenTelemetry spans (OTLP over HTTP and gRPC) at this `address`; "+
		"\"on\" for ports 4317 and 4318 of this host")
	flags.StringArrayVar(&f.Thresholds, "threshold", nil, "pass/fail `expression` (\"p99 < 42ms\"); may be repeated")
	flags.BoolVar(&f.blind, "no-observe", false, "observe nothing but the load, at the lowest cost")
	flags.StringArrayVar(&f.Redact, "redact", nil, "`header` whose value is never recorded; may be repeated")
}

// exportFlags name the tools that the run is exported to as it goes.
func (f *Flags) exportFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Export.Prometheus, "prometheus", "", "export figures to Prometheus: an `address` to scrape "+
		"(127.0.0.1:9464), or the URL of remote write (http://host:9090/api/v1/write)")
	flags.StringVar(&f.Export.OTLP, "otlp-metrics", "", "export figures to this `URL` as OTLP metrics over HTTP (http://host:4318)")
	flags.StringVar(&f.Export.Pyroscope, "pyroscope", "", "export profiles to the Pyroscope at this `URL` (http://host:4040)")
	f.Export.PrometheusToken = os.Getenv(scenario.PrometheusTokenVariable)
	f.Export.OTLPToken = os.Getenv(scenario.OTLPMetricsTokenVariable)
	f.Export.PyroscopeToken = os.Getenv(scenario.PyroscopeTokenVariable)
}

// outputFlags set the format and location of the results.
func (f *Flags) outputFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Out, "out", "o", "", "bundle `directory` (default runs/<time>-<scenario>)")
	flags.BoolVar(&f.JSON, "json", false, "print only summary.json on stdout")
	cli.HistoryFlag(flags, &f.History)
	flags.BoolVar(&f.plain, "plain", false, "print plain progress lines even on a terminal")
	flags.StringVar(&f.web, "web", "", "show the run live in a browser, at this `address` (default 127.0.0.1 and a free "+
		"port; at other addresses others need the token in the URL)")
	flags.Lookup("web").NoOptDefVal = webAlone
	flags.BoolVar(&f.all, "all", false,
		"print every finding in full, rejected and not judged causes, the slowest requests and all sources")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "copy the target's output to stderr")
	flags.BoolVar(&f.overhead, "measure-overhead", false, "also measure the cost of observation, by alternating runs with "+
		"and without it")
	flags.IntVar(&f.pairs, "overhead-pairs", 10, "pairs of runs that --measure-overhead makes")
}

// completions registers the files and words that the shell offers for arguments and flags.
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
