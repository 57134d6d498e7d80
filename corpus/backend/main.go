// Command backend is the service that services of the corpus call: it answers
// every request after a latency, with the faults that its flags set, in a
// separate process. It prints its URL on standard output once it listens, and
// with -tls the path of its certificate authority on the next line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "backend:", err)
		os.Exit(1)
	}
}

// command serves until ctx ends.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var a answers
	flags := flag.NewFlagSet("backend", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "loopback `address` to listen on")
	encrypt := flags.Bool("tls", false, "serve HTTPS with a certificate of an authority of its own")
	noKeepAlive := flags.Bool("no-keepalive", false, "close each connection after its answer")
	a.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := a.ready(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		l.Close()
		return fmt.Errorf("%s is not a loopback address", *listen)
	}
	server := &http.Server{Handler: &a, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	server.SetKeepAlivesEnabled(!*noKeepAlive)
	serve := server.Serve
	lines := "http://" + l.Addr().String() + "\n"
	if *encrypt {
		dir, err := os.MkdirTemp("", "backend-")
		if err != nil {
			l.Close()
			return err
		}
		defer os.RemoveAll(dir)
		authority := filepath.Join(dir, "ca.pem")
		if server.TLSConfig, err = certify(authority); err != nil {
			l.Close()
			return err
		}
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
		lines = "https://" + l.Addr().String() + "\n" + authority + "\n"
	}
	fmt.Fprint(stdout, lines)
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
