package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/service"
	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

// drainTimeout bounds the wait for requests in flight at the end.
const drainTimeout = 10 * time.Second

// serveOptions are the flags of serve besides the switches.
type serveOptions struct {
	addr, dsn, dir, pprof string
	seed                  bool
	rate, spin            int
	settings              remedy.Settings
}

// serve runs the gateway until ctx ends.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := serveFlags(args, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	if gc := o.settings.GC; gc.Percent > 0 {
		debug.SetGCPercent(gc.Percent)
		if gc.Limit > 0 {
			debug.SetMemoryLimit(gc.Limit)
		}
	}
	if o.seed {
		if err := seedInto(ctx, o.dsn, stderr); err != nil {
			return err
		}
	}
	secret, err := secretFromEnv(log)
	if err != nil {
		return err
	}
	s, err := service.New(ctx, service.Options{
		DSN: o.dsn, Dir: o.dir, Secret: secret, RateLimit: o.rate, RiskURL: os.Getenv("GATEWAY_RISK_URL"),
		Spin: o.spin, Settings: o.settings, Log: log,
	})
	if err != nil {
		return err
	}
	return errors.Join(listen(ctx, o, s.Handler, stdout, log), s.Close())
}

func serveFlags(args []string, stderr io.Writer) (serveOptions, error) {
	var o serveOptions
	flags := flag.NewFlagSet("gateway serve", flag.ContinueOnError)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "listen on this address; port 0 picks a free one")
	flags.StringVar(&o.dsn, "dsn", os.Getenv("GATEWAY_DSN"), "PostgreSQL to use; default $GATEWAY_DSN")
	flags.Lookup("dsn").DefValue = "" // a default in help would print the password
	flags.StringVar(&o.dir, "dir", os.Getenv("GATEWAY_DIR"),
		"folder for the log and the audit trail; default $GATEWAY_DIR, else a temporary one")
	flags.StringVar(&o.pprof, "pprof", "", "serve net/http/pprof on this loopback address; empty does not")
	flags.BoolVar(&o.seed, "seed", false, "fill the database first if it is empty")
	flags.IntVar(&o.rate, "rate-limit", 20_000, "requests per second that one user may make")
	spin, spinErr := spinFromEnv()
	flags.IntVar(&o.spin, "spin", spin, "rounds of useless work added to every request: a slow-down of a known size; default $GATEWAY_SPIN")
	given := map[string]string{}
	for _, w := range remedy.Switches() {
		flags.Func(w.Name, fmt.Sprintf("%s ($%s; as found %s, remedied %s)", w.Doc, w.Env, w.Naive, w.Sound), func(v string) error {
			given[w.Env] = v
			return nil
		})
	}
	if err := parse(flags, args, stderr); err != nil {
		return o, err
	}
	var err error
	o.settings, err = remedy.Parse(func(env string) (string, bool) {
		if v, ok := given[env]; ok {
			return v, true
		}
		return os.LookupEnv(env)
	})
	switch {
	case err != nil:
		return o, fmt.Errorf("%w: %w", errUsage, err)
	case spinErr != nil:
		return o, fmt.Errorf("%w: %w", errUsage, spinErr)
	case o.dsn == "":
		return o, fmt.Errorf("%w: give a database with --dsn or GATEWAY_DSN", errUsage)
	case o.rate < 1:
		return o, fmt.Errorf("%w: --rate-limit %d is not positive", errUsage, o.rate)
	case o.pprof != "" && !loopback(o.pprof):
		return o, fmt.Errorf("%w: --pprof %s is not a loopback address", errUsage, o.pprof)
	}
	return o, nil
}

func spinFromEnv() (rounds int, err error) {
	if v := os.Getenv("GATEWAY_SPIN"); v != "" {
		if rounds, err = strconv.Atoi(v); err != nil || rounds < 0 {
			return 0, fmt.Errorf("GATEWAY_SPIN=%q is no number of rounds", v)
		}
	}
	return rounds, nil
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// secretFromEnv returns what signs tokens.
func secretFromEnv(log *slog.Logger) (string, error) {
	secret := os.Getenv("GATEWAY_JWT_SECRET")
	if secret == "" {
		log.Warn("GATEWAY_JWT_SECRET is not set: tokens are checked with the published development secret")
		return auth.DevelopmentSecret, nil
	}
	if len(secret) < auth.MinSecret {
		return "", fmt.Errorf("GATEWAY_JWT_SECRET has %d bytes, at least %d are wanted", len(secret), auth.MinSecret)
	}
	return secret, nil
}

// listen serves h until ctx ends, then lets requests in flight finish.
func listen(ctx context.Context, o serveOptions, h http.Handler, stdout io.Writer, log *slog.Logger) error {
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	if o.pprof != "" {
		debugServer, err := listenPprof(o.pprof, stdout)
		if err != nil {
			l.Close()
			return err
		}
		defer debugServer.Close()
	}
	if _, err := fmt.Fprintf(stdout, "gateway: listening on http://%s\n", l.Addr()); err != nil {
		l.Close()
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return fmt.Errorf("requests were still in flight: %w", errors.Join(err, server.Close()))
	}
	return nil
}

// listenPprof serves net/http/pprof on an address of its own. Importing the
// package registers it on the default mux, which nothing here serves.
func listenPprof(address string, stdout io.Writer) (*http.Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l)
	_, err = fmt.Fprintf(stdout, "gateway: pprof on http://%s/debug/pprof\n", l.Addr())
	return server, err
}

// seed is the verb; seedInto is what serve does with --seed.
func seed(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway seed", flag.ContinueOnError)
	dsn := flags.String("dsn", "", "PostgreSQL to fill; default $GATEWAY_DSN")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	if *dsn == "" {
		*dsn = os.Getenv("GATEWAY_DSN")
	}
	if *dsn == "" {
		return fmt.Errorf("%w: give a database with --dsn or GATEWAY_DSN", errUsage)
	}
	return seedInto(ctx, *dsn, stdout)
}

func seedInto(ctx context.Context, dsn string, out io.Writer) error {
	start := time.Now()
	seeded, err := store.Seed(ctx, dsn, store.FullSize)
	if err != nil {
		return err
	}
	if !seeded {
		fmt.Fprintln(out, "gateway: the database is seeded already")
		return nil
	}
	fmt.Fprintf(out, "gateway: seeded %d orders of %d users in %.1f s\n", store.FullSize.Orders,
		store.FullSize.Users, time.Since(start).Seconds())
	return nil
}
