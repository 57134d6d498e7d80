// Command shift-handover keeps what the nurses of a ward tell the next shift.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/shift-handover/notes"
	"github.com/redline-go/redline/corpus/sick/shift-handover/ward"
)

func open(kind, dir string) (notes.Store, func() error, error) {
	switch kind {
	case "memory":
		return notes.NewMemory(), func() error { return nil }, nil
	case "journal":
		clean := func() error { return nil }
		if dir == "" {
			temp, err := os.MkdirTemp("", "shift-handover-")
			if err != nil {
				return nil, nil, err
			}
			dir, clean = temp, func() error { return os.RemoveAll(temp) }
		}
		j, err := notes.OpenJournal(filepath.Join(dir, "notes.jsonl"))
		if err != nil {
			return nil, nil, errors.Join(err, clean())
		}
		return j, func() error { return errors.Join(j.Close(), clean()) }, nil
	}
	return nil, nil, fmt.Errorf("-store %s: journal or memory", kind)
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("shift-handover", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:9747", "address to listen on")
	kind := flags.String("store", "journal", "where notes are kept: journal or memory")
	dir := flags.String("dir", "", "folder of the journal; a temporary one if empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	store, clean, err := open(*kind, *dir)
	if err != nil {
		return err
	}
	defer func() {
		if err := clean(); err != nil {
			slog.Warn("store", "err", err)
		}
	}()
	srv := &http.Server{Addr: *addr, Handler: ward.New(store).Handler(), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		slog.Error("shift-handover", "err", err)
		os.Exit(1)
	}
}
