package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/risk"
	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

// The life of scenario tokens. It is fixed, so that the same secret gives the
// same file, and long, because the file is committed; real tokens live minutes.
var (
	tokensIssued  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tokensExpires = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// tokens prints a feeder: users spread over the seed, their tokens, and an order
// of each that can be reversed.
func tokens(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway tokens", flag.ContinueOnError)
	n := flags.Int("n", 2000, "how many users")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	users := store.FullSize.Users
	if *n < 1 || *n > users {
		return fmt.Errorf("%w: --n %d is not 1 to %d", errUsage, *n, users)
	}
	secret, err := secretFromEnv(slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return err
	}
	keeper, err := auth.New(secret)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	fmt.Fprintln(out, "uid,token,order")
	for i := range *n {
		user := int64(i)*int64(users)/int64(*n) + 1
		token, err := keeper.Sign(user, tokensIssued, tokensExpires)
		if err != nil {
			return err
		}
		// The seed's first order of a user has the user's number and is captured.
		fmt.Fprintf(out, "%d,%s,%d\n", user, token, user)
	}
	return out.Flush()
}

// remedies prints the steps of the ladder.
func remedies(args []string, stdout, stderr io.Writer) error {
	return list("gateway remedies", remedy.Remedies(), args, stdout, stderr, func(r remedy.Remedy) string {
		return fmt.Sprintf("%s\t%s=%s\t%s\t%s", r.Name, r.Env, r.On, strings.Join(r.Cures, ", "), r.Title)
	})
}

// faults prints the single-fault settings.
func faults(args []string, stdout, stderr io.Writer) error {
	return list("gateway faults", remedy.Faults(), args, stdout, stderr, func(f remedy.Fault) string {
		return fmt.Sprintf("%s\t%s\t%d connections", f.Name, f.Cause, f.Load.Connections)
	})
}

// list prints values as JSON or as a table.
func list[T any](name string, values []T, args []string, stdout, stderr io.Writer, row func(T) string) error {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(values)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, v := range values {
		fmt.Fprintln(w, row(v))
	}
	return w.Flush()
}

// serveRisk is the role of the risk service.
func serveRisk(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway risk", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "listen on this address")
	withParent := flags.Bool("with-parent", false, "end when standard input does")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	var alive io.Reader
	if *withParent {
		alive = stdin
	}
	return risk.Serve(ctx, *addr, alive, stdout)
}
