package demo

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service/postgres"
)

// ordered is the bundle of a run whose clients were answered that so many orders are made.
func ordered(t *testing.T, orders int, s record.Summary) *record.Record {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	width := timebase.DefaultWindow
	w, err := record.Create(dir, record.Run{
		Redline: "0.1.0", Window: width, Steady: timebase.Span{To: 10 * width}, Scenario: json.RawMessage(`{}`),
		Clock: timebase.Clock{EpochWall: time.Date(2026, 11, 21, 4, 20, 0, 0, time.UTC)},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := histogram.New()
	for range orders {
		if err := h.RecordValue(1e6); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		w.Histogram(creating, histogram.Latency, timebase.WindowSpan(0, width), h),
		disk.WriteJSON(dir, record.SummaryFile, s), w.Close(record.Complete, ""),
	); err != nil {
		t.Fatal(err)
	}
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// late is the summary of a run that the generator spoilt.
func late() (s record.Summary) {
	s.Load.Requests = 100
	s.Generator.WhyInvalid = []string{"it sent too late"}
	return s
}

// copies are databases with the tables that are counted.
func copies(t *testing.T) databases {
	t.Helper()
	server, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(t.Context()) })
	d, err := copyOf(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	conn := connected(t, server.DSN)
	if _, err := conn.Exec(t.Context(), `CREATE TABLE orders (amount_cents bigint, status text);
		CREATE TABLE accounts (balance_cents bigint); INSERT INTO accounts VALUES (100);
		INSERT INTO orders VALUES (50, 'captured')`); err != nil {
		t.Fatal(err)
	}
	conn.Close(t.Context()) // nobody may be connected to a template
	if err := d.fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func connected(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	return conn
}

// TestLostWhileLate: an order that a service loses under more load than the generator could keep up with is lost.
func TestLostWhileLate(t *testing.T) {
	c := &climb{databases: copies(t)}
	one, err := c.databases.stock(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	before := [2]stock{one, one}
	m := &meeting{climb: c, copies: []int{0, 1}}
	m.sides[1].rung.Name = "pool"
	_, err = m.paired(t.Context(), [2]*record.Record{ordered(t, 0, late()), ordered(t, 5, late())}, before)
	if spoilt := (*spoilt)(nil); errors.As(err, &spoilt) || err == nil || !strings.Contains(err.Error(), `step "pool": 5 orders are lost`) {
		t.Errorf("5 orders that are in no database: %v", err)
	}
	_, err = m.paired(t.Context(), [2]*record.Record{ordered(t, 0, late()), ordered(t, 0, late())}, before)
	if spoilt := (*spoilt)(nil); !errors.As(err, &spoilt) {
		t.Errorf("accounts that are balanced: %v", err)
	}
}

// TestDeadService: that nothing was answered is not said to be the generator's doing.
func TestDeadService(t *testing.T) {
	var dead record.Summary
	dead.Generator.Valid = true
	if err := valid(ordered(t, 0, dead)); err == nil || strings.Contains(err.Error(), "generator") {
		t.Errorf("no request ended: %v", err)
	}
	const want = "the generator could not keep up: it sent too late"
	if err := valid(ordered(t, 0, late())); err == nil || err.Error() != want {
		t.Errorf("a late generator: %v", err)
	}
}

// script puts an executable into a folder, which it returns.
func script(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPgbench: a database that a killed climb left does not stop the next one, which measures what is missing alone.
func TestPgbench(t *testing.T) {
	c := &climb{databases: copies(t), Options: Options{Ladder: ladder.Stack}}
	c.result = ladder.Result{Rungs: make([]ladder.Rung, 2), Whole: &ladder.Comparison{}, Paced: &ladder.Paced{Rate: 400}}
	if _, err := connected(t, c.databases.seeded).Exec(t.Context(), "CREATE DATABASE "+pgbenchDatabase); err != nil {
		t.Fatal(err)
	}
	var kept ladder.Result
	c.OnResult = func(r ladder.Result) error { kept = r; return nil }
	t.Setenv("PATH", script(t, "pgbench", `echo "tps = 26431.5 (without initial connection time)"`))
	if err := c.whole(t.Context()); err != nil || kept.Pgbench != 26431.5 || kept.Paced.Rate != 400 {
		t.Errorf("%v, %+v", err, kept)
	}
}

// TestWordsDrawNothing: what is said of the time left does not change the order of the turns that follow.
func TestWordsDrawNothing(t *testing.T) {
	c := &climb{random: rand.New(rand.NewPCG(7, 1)), climbed: 1, steps: make([]Step, 1)}
	c.result.Rungs = make([]ladder.Rung, 1)
	if c.remaining(nil, false) == "" {
		t.Fatal("nothing was said")
	}
	if got, want := c.random.Uint64(), rand.New(rand.NewPCG(7, 1)).Uint64(); got != want {
		t.Errorf("the next draw is %d, not %d", got, want)
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		given              Options
		measured, warmedUp time.Duration
	}{
		{Options{}, 4 * time.Second, time.Second},
		{Options{Full: true}, 8 * time.Second, time.Second},
		{Options{Warmup: 3 * time.Second}, 4 * time.Second, 3 * time.Second},
		{Options{Duration: time.Second}, time.Second, 0},
	} {
		o := c.given
		o.defaults()
		if o.Duration != c.measured || o.Warmup != c.warmedUp {
			t.Errorf("%+v: %v after %v", c.given, o.Duration, o.Warmup)
		}
	}
}

// TestTooFewTokens: the error says so, in whole words.
func TestTooFewTokens(t *testing.T) {
	c := &climb{binary: filepath.Join(script(t, "gateway", "echo id,token; echo 1,abc"), "gateway")}
	if _, _, err := c.users(t.Context()); err == nil || !strings.Contains(err.Error(), "2 rows") || strings.Contains(err.Error(), "%!") {
		t.Errorf("%v", err)
	}
}
