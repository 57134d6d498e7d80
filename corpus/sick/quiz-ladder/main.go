// Command quiz-ladder shows players of a quiz where they stand in their league.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/corpus/sick/quiz-ladder/api"
	"github.com/redline-go/redline/corpus/sick/quiz-ladder/ladder"
)

type options struct {
	addr    string
	leagues int
	players int
	fresh   time.Duration
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("quiz-ladder", flag.ContinueOnError)
	fs.StringVar(&o.addr, "addr", "127.0.0.1:9349", "address to listen on")
	fs.IntVar(&o.leagues, "leagues", 24, "leagues")
	fs.IntVar(&o.players, "players", 20000, "players of each league")
	fs.DurationVar(&o.fresh, "fresh", 100*time.Millisecond, "how old a standing may be")
	return o, fs.Parse(args)
}

func run(ctx context.Context, o options, log *slog.Logger) error {
	keeper := ladder.NewKeeper(ladder.NewSeason(o.leagues, o.players), o.fresh, log)
	srv := &http.Server{Addr: o.addr, Handler: api.New(keeper, log), ReadHeaderTimeout: 3 * time.Second}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return keeper.Run(ctx) })
	g.Go(func() error {
		if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		return srv.Shutdown(grace)
	})
	return g.Wait()
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, log); err != nil && !errors.Is(err, context.Canceled) {
		log.Error("quiz-ladder", "err", err)
		os.Exit(1)
	}
}
