package measure

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag" // cobra's flags

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/scenario"
)

// The flags of `redline run`, by their heading in --help. Within a heading, those that most people need come first.

// TargetFlags set the service under test.
func (f *Flags) TargetFlags(flags *pflag.FlagSet) { cli.Under(flags, "Target", f.targetFlags) }

func (f *Flags) targetFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Build, "build", "", "build main package `PKG` with the probe injected, and start it")
	flags.StringVar(&f.BuildFlags, "build-flags", "", "with --build: `FLAGS` for go build (-tags=sqlite -ldflags='-s -w')")
	flags.BoolVar(&f.Plain, "no-instrument", false, "with --build: leave out the hooks that count statements and "+
		"calls; callers are then inferred")
	flags.StringVar(&f.Exec, "exec", "", "start the service by command `CMD`")
	flags.IntVar(&f.PID, "pid", 0, "observe the service that runs as process `PID`")
	flags.StringVar(&f.Dir, "dir", "", "start the service in directory `DIR` (default the current one)")
	flags.StringVar(&f.Ready, "ready", "", "wait until `URL` returns a status below 500 (default: until a TCP connection succeeds)")
}

// LoadFlags set how many requests are sent, and when.
func (f *Flags) LoadFlags(flags *pflag.FlagSet) { cli.Under(flags, "Load", f.loadFlags) }

func (f *Flags) loadFlags(flags *pflag.FlagSet) {
	flags.IntVarP(&f.Connections, "connections", "c", 0, "closed loop over `N` connections (default 64); with --rate or "+
		"--replay at most N (default 512)")
	flags.StringVar(&f.Rate, "rate", "", "open loop: send `N/s` requests, however fast the service responds (2000/s, 300/m)")
	flags.DurationVarP(&f.Duration, "duration", "d", 0, "measure for `TIME`, after the warm-up (default 30s, or until -n or "+
		"--replay ends)")
	flags.DurationVar(&f.warmup, "warmup", scenario.DefaultWarmup, "put load on for `TIME` before measuring; a scenario file or "+
		"--replay has no warm-up unless you set one")
	flags.Int64VarP(&f.Requests, "requests", "n", 0, "end after `N` measured requests; with -d, whichever comes first")
	flags.StringVar(&f.Think, "think", "", "closed loop: wait `TIME` after each response (200ms, "+
		"\"min=100ms,max=300ms\", or \"mean=200ms\" for exponential)")
	flags.BoolVar(&f.Poisson, "poisson", false, "with --rate: random arrivals, as from many independent users, instead of "+
		"evenly spaced ones")
	flags.StringVar(&f.PerConnection, "rate-per-connection", "", "open loop: send `N/s` requests over each of the -c connections (10/s)")
	flags.IntVar(&f.Streams, "streams", 0, "send `N` requests at once over each connection, with --http2 or grpc (default 1)")
	flags.DurationVar(&f.Timeout, "timeout", 0, "limit each request to `TIME` (default 10s)")
	flags.DurationVar(&f.Grace, "grace", 0, "after the load, wait `TIME` for requests still in flight (default 2s, or twice "+
		"the time of the slowest response)")
	flags.StringVar(&f.ConnectRate, "connect-rate", "", "open at most `N/s` connections (500/s; default no limit)")
	flags.StringArrayVar(&f.Sources, "source", nil, "connect from local address `IP`; may be repeated, used in turn")
	flags.IntVar(&f.Threads, "threads", 0, "generate the load with `N` event loops (default: chosen by redline)")
	flags.BoolVarP(&f.Yes, "yes", "y", false, "load hosts other than this one and those of the scenario without asking")
}

// RequestFlags set what is sent, and the transport.
func (f *Flags) RequestFlags(flags *pflag.FlagSet) {
	cli.Under(flags, "Request", f.requestFlags)
	cli.Under(flags, "Data and replay", f.dataFlags)
}

func (f *Flags) requestFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Method, "method", "X", "", "use `METHOD` (default GET, or POST with --body)")
	flags.StringArrayVarP(&f.Headers, "header", "H", nil, "add header `\"Name: value\"` to every request; may be repeated")
	flags.BoolVar(&f.Follow, "follow", false, "follow redirects to hosts that the scenario names")
	flags.BoolVar(&f.HTTP2, "http2", false, "use HTTP/2: by ALPN over https, with prior knowledge over http")
	flags.StringVar(&f.CACert, "cacert", "", "trust the certificate authorities in PEM `FILE` (default the system's)")
	flags.StringVar(&f.Cert, "cert", "", "send the client certificate in PEM `FILE`")
	flags.StringVar(&f.Key, "key", "", "use the key in PEM `FILE` for the client certificate")
	flags.StringVar(&f.ServerName, "server-name", "", "require `NAME` in the server's certificate (default the URL's host)")
	flags.BoolVar(&f.Insecure, "insecure", false, "do not verify the server's certificate")
}

func (f *Flags) dataFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Body, "body", "", "send `TEXT|@FILE` as the body: the text itself, or a text file's contents (at most 4 MiB)")
	flags.StringVar(&f.Body, "data", "", "same as --body; `TEXT|@FILE` is the message of a grpc (JSON), ws or tcp URL")
	flags.StringVar(&f.DescriptorSet, "descriptor-set", "", "read the schema of a grpc URL from `FILE`, written by protoc "+
		"--include_imports --descriptor_set_out (default: server reflection)")
	flags.StringVar(&f.Replay, "replay", "", "replay access log `FILE` (nginx combined, or JSON lines) against the URL, at the log's times")
	flags.StringSliceVar(&f.ReplayMethods, "replay-methods", nil,
		"with --replay: send only `METHODS` (default GET,HEAD,OPTIONS; others may change data)")
	flags.Float64Var(&f.Speed, "speed", 0, "with --replay: `N` times the log's speed (default 1)")
}

// ObserveFlags set the sources.
func (f *Flags) ObserveFlags(flags *pflag.FlagSet) { cli.Under(flags, "Observe", f.observeFlags) }

func (f *Flags) observeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Pprof, "pprof", "", "base `URL` of the service's net/http/pprof (http://host:port/debug/pprof)")
	flags.StringVar(&f.Postgres, "postgres", "", "`DSN` of the service's PostgreSQL, to observe statements and sessions")
	f.OTLPToken = os.Getenv("REDLINE_OTLP_TOKEN") // a flag would show it to whoever lists processes
	flags.StringVar(&f.OTLP, "otlp", "", "receive OpenTelemetry spans (OTLP over HTTP and gRPC) at `ADDR`; "+
		"\"on\" for ports 4317 and 4318 of this host")
	flags.BoolVar(&f.blind, "no-observe", false, "observe nothing but the load, at the lowest cost")
}

func (f *Flags) overheadFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.overhead, "measure-overhead", false, "also measure the cost of observation, by alternating runs with "+
		"and without it")
	flags.IntVar(&f.pairs, "overhead-pairs", 10, "with --measure-overhead: make `N` pairs of runs")
}

// RecordFlags set what must hold and what is never recorded. They come under the heading of the output.
func (f *Flags) RecordFlags(flags *pflag.FlagSet) { cli.Under(flags, "Output", f.recordFlags) }

func (f *Flags) recordFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Thresholds, "threshold", nil, "fail unless `EXPR` holds (\"p99 < 42ms\"); may be repeated")
	flags.StringArrayVar(&f.Redact, "redact", nil, "never record the value of header `NAME`; may be repeated")
}

// outputFlags set the format and location of the results.
func (f *Flags) outputFlags(flags *pflag.FlagSet) {
	WebFlag(flags, &f.web, "the run")
	flags.BoolVar(&f.all, "all", false,
		"print every finding in full, causes rejected or not judged, the slowest requests and all sources")
	flags.StringVarP(&f.Out, "out", "o", "", "write the bundle to directory `DIR` (default runs/<time>-<scenario>)")
	flags.BoolVar(&f.JSON, "json", false, "print only summary.json on stdout")
	f.recordFlags(flags)
	cli.HistoryFlag(flags, &f.History)
	f.exportFlags(flags)
	flags.BoolVar(&f.plain, "plain", false, "print plain progress lines even on a terminal")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "copy the service's output to stderr")
}

// exportFlags name the tools that the run is exported to as it goes.
func (f *Flags) exportFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Export.Prometheus, "prometheus", "", "export figures to Prometheus: `ADDR|URL` is an address to scrape "+
		"(127.0.0.1:9464), or the URL of remote write (http://host:9090/api/v1/write)")
	flags.StringVar(&f.Export.OTLP, "otlp-metrics", "", "export figures to `URL` as OTLP metrics over HTTP (http://host:4318)")
	flags.StringVar(&f.Export.Pyroscope, "pyroscope", "", "export profiles to the Pyroscope at `URL` (http://host:4040)")
	f.Export.PrometheusToken = os.Getenv(scenario.PrometheusTokenVariable)
	f.Export.OTLPToken = os.Getenv(scenario.OTLPMetricsTokenVariable)
	f.Export.PyroscopeToken = os.Getenv(scenario.PyroscopeTokenVariable)
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
