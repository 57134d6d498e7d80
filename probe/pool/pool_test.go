package pool

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/probe/sampler"
)

// connector opens connections that do nothing, for a real *sql.DB.
type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return connection{}, nil }
func (connector) Driver() driver.Driver                        { return nil }

type connection struct{}

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements") }
func (connection) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }
func (connection) Close() error                        { return nil }

// watched samples into a ring and returns the figures of the pools by series
// and name.
func watched(t *testing.T) map[string]float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring")
	s := sampler.New()
	w, err := ring.Create(path, ring.Header{}, s.Columns(), 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := sampler.StartClock(0, 0)
	loop := &sampler.Loop{Clock: clock, Epoch: clock.Now(), Window: 5 * time.Millisecond, Sampler: s, Ring: w}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); loop.Run(stop) }()
	defer func() { close(stop); <-ended }()
	r, err := ring.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var sample ring.Sample
	for ok := false; !ok; {
		if ok, err = r.Next(&sample); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // no event tells that memory was written
	}
	got := map[string]float64{}
	for i, c := range r.Columns {
		if c.Named == 0 || math.IsNaN(sample.Values[i]) {
			continue
		}
		name, err := r.Name(c.Named - 1)
		if err != nil || name == "" {
			t.Errorf("figures of a pool without a name: %v", err)
		}
		got[c.Name+" "+name] = sample.Values[i]
	}
	return got
}

func TestDatabaseSQL(t *testing.T) {
	db := sql.OpenDB(connector{})
	defer db.Close()
	db.SetMaxOpenConns(2)
	var held []*sql.Conn
	for range 2 {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := db.Conn(short); err == nil { // waits
		t.Fatal("a third connection of two")
	}
	held[1].Close()
	remove := DB("orders", db)
	got := watched(t)
	for series, want := range map[string]float64{
		"pool.in_use orders": 1, "pool.idle orders": 1, "pool.max_open orders": 2, "pool.waits orders": 1, "pool.closed orders": 0,
	} {
		if v, ok := got[series]; !ok || v != want {
			t.Errorf("%s is %v (%t), want %v", series, v, ok, want)
		}
	}
	if _, ok := got["pool.acquires orders"]; ok {
		t.Error("database/sql does not count acquisitions, and yet there are some")
	}
	held[0].Close()
	remove()
	if got := watched(t); len(got) != 0 {
		t.Errorf("removed, and still there: %v", got)
	}
}

// pgxStat has what *pgxpool.Stat has.
type pgxStat struct{}

func (*pgxStat) AcquireCount() int64            { return 100 }
func (*pgxStat) AcquireDuration() time.Duration { return time.Second }
func (*pgxStat) AcquiredConns() int32           { return 3 }
func (*pgxStat) EmptyAcquireCount() int64       { return 40 }
func (*pgxStat) IdleConns() int32               { return 1 }
func (*pgxStat) MaxConns() int32                { return 4 }
func (*pgxStat) MaxIdleDestroyCount() int64     { return 5 }
func (*pgxStat) MaxLifetimeDestroyCount() int64 { return 2 }

func TestPgx(t *testing.T) {
	defer Pgx("stock", func() *pgxStat { return &pgxStat{} })()
	got := watched(t)
	for series, want := range map[string]float64{
		"pool.in_use stock": 3, "pool.idle stock": 1, "pool.max_open stock": 4,
		"pool.acquires stock": 100, "pool.waits stock": 40, "pool.wait_time stock": 1e9, "pool.closed stock": 7,
	} {
		if got[series] != want {
			t.Errorf("%s is %v, want %v", series, got[series], want)
		}
	}
}

func TestPoolThatPanicsIsNotAskedAgain(t *testing.T) {
	asked := 0
	defer Pgx("broken", func() *pgxStat { asked++; panic("closed") })()
	defer Pgx("whole", func() *pgxStat { return &pgxStat{} })()
	s := sampler.New()
	for range 3 {
		s.Read()
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if got := watched(t); got["pool.in_use whole"] != 3 || len(got) != 7 {
		t.Errorf("%v", got)
	}
}

func TestPoolMadeAnewKeepsItsPlace(t *testing.T) {
	old := Pgx("again", func() *pgxStat { panic("closed") })
	remove := Pgx("again", func() *pgxStat { return &pgxStat{} })
	old() // the first is told to go after the second came
	if got := watched(t); got["pool.in_use again"] != 3 {
		t.Errorf("%v", got)
	}
	remove()
}

func TestAskingADatabaseAllocatesNothing(t *testing.T) {
	db := sql.OpenDB(connector{})
	defer db.Close()
	defer DB("orders", db)()
	s := sampler.New()
	if n := testing.AllocsPerRun(200, func() { s.Read() }); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}
