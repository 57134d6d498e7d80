//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix" // CLOCK_MONOTONIC, the truth with which views are compared

	_ "github.com/redline-go/redline/probe/auto"
	"github.com/redline-go/redline/probe/request"
)

// blocks are allocated by a mark, each larger than the allocator's largest size
// class: nothing else in the service takes as many.
const (
	blocks    = 20
	blockSize = 64 << 10
)

// instants are when something began and ended, CLOCK_MONOTONIC ns.
type instants struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// mark is the service's record of one event.
type mark struct {
	Number   int      `json:"number"`
	Whole    instants `json:"whole"`
	Allocate instants `json:"allocate"`
	Connect  instants `json:"connect"`
	Query    instants `json:"query"`
}

// marker marks events.
type marker struct {
	mu     sync.Mutex
	db     *pgx.Conn
	peer   string // where a mark connects to
	out    *json.Encoder
	blocks [blocks][]byte
}

// marked is the statement that a mark runs.
const marked = "SELECT 1 AS marked"

// serve serves until ctx ends.
func serve(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen := flags.String("listen", "", "address")
	dsn := flags.String("dsn", "", "PostgreSQL")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := pgx.Connect(ctx, *dsn)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx))
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer peer.Close()
	go func() {
		for {
			c, err := peer.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	s := &marker{db: db, peer: peer.Addr().String(), out: json.NewEncoder(stdout)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /mark", s.mark)
	server := &http.Server{Addr: *listen, Handler: mux, ReadHeaderTimeout: time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// mark is one event: it is visible to every source, and reports when it was.
func (s *marker) mark(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		http.Error(w, "a mark has a number", http.StatusBadRequest)
		return
	}
	m := mark{Number: number}
	m.Whole.From = now()
	_, end := request.Begin(r.Context(), name(number))
	m.Allocate = during(func() {
		for i := range s.blocks {
			s.blocks[i] = make([]byte, blockSize)
		}
	})
	m.Connect = during(func() {
		var c net.Conn
		if c, err = net.Dial("tcp", s.peer); err == nil {
			err = c.Close()
		}
	})
	if err == nil {
		m.Query = during(func() { _, err = s.db.Exec(r.Context(), marked) })
	}
	end()
	m.Whole.To = now()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = s.out.Encode(m) // fails only if the bench, which ends this process, no longer reads
}

// name is a mark's id in the trace.
func name(number int) string { return fmt.Sprintf("mark-%d", number) }

func during(f func()) instants {
	from := now()
	f()
	return instants{from, now()}
}

func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // there is no Linux without it
	}
	return ts.Nano()
}
