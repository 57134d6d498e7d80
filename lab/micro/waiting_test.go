package micro_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/batch"
	"github.com/redline-go/redline/kit/deadline"
	"github.com/redline-go/redline/kit/pool"
	"github.com/redline-go/redline/lab/micro"
)

// echo answers each line with the same line, on loopback, until the test ends.
func echo(tb testing.TB) (address string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})
	tb.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().String()
}

func ask(c net.Conn) error {
	if _, err := c.Write([]byte("ping\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && line != "ping\n" {
		return errors.New("another answer: " + line)
	}
	return err
}

func dialled(tb testing.TB, address string) (call func() error, end func()) {
	return func() error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer c.Close()
		return ask(c)
	}, func() {}
}

func lent(tb testing.TB, address string) (call func() error, end func()) {
	p, err := pool.New(pool.Config[net.Conn]{Dial: func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}, MaxOpen: 4})
	if err != nil {
		tb.Fatal(err)
	}
	return func() error {
			lease, err := p.Get(context.Background())
			if err != nil {
				return err
			}
			if err := ask(lease.Conn); err != nil {
				lease.Discard()
				return err
			}
			lease.Release()
			return nil
		}, func() {
			if err := p.Close(); err != nil {
				tb.Error(err)
			}
		}
}

// BenchmarkConnections asks a server on loopback: over a connection of its own each time,
// or one that kit's pool keeps.
func BenchmarkConnections(b *testing.B) {
	call, end := micro.Of(dialled, lent)(b, echo(b))
	defer end()
	for b.Loop() {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestConnectionsAgree(t *testing.T) {
	address := echo(t)
	for _, way := range []func(testing.TB, string) (func() error, func()){dialled, lent} {
		call, end := way(t, address)
		for range 5 {
			if err := call(); err != nil {
				t.Error(err)
			}
		}
		end()
	}
}

const depth = 50

type derive func(context.Context, time.Duration) (context.Context, context.CancelFunc)

// chain derives a context from a context, as deep as calls that each set a limit of their
// own, looks at the innermost and ends them all.
func chain(with derive) error {
	ctx, ends := context.Background(), make([]context.CancelFunc, 0, depth)
	for range depth {
		next, cancel := with(ctx, time.Minute)
		ctx, ends = next, append(ends, cancel)
	}
	err := ctx.Err()
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i]()
	}
	return err
}

// BenchmarkDeepContext passes a request through fifty limits: context's, or kit's flat ones.
func BenchmarkDeepContext(b *testing.B) {
	with := micro.Of[derive](context.WithTimeout, deadline.WithTimeout)
	b.ReportAllocs()
	for b.Loop() {
		if err := chain(with); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDeepContext(t *testing.T) {
	for _, with := range []derive{context.WithTimeout, deadline.WithTimeout} {
		outer, cancel := with(context.Background(), time.Minute)
		inner, done := with(outer, time.Hour)
		at, _ := outer.Deadline()
		if got, ok := inner.Deadline(); !ok || got.After(at) {
			t.Errorf("the inner limit is %v, the outer %v", got, at)
		}
		cancel()
		<-inner.Done()
		if !errors.Is(inner.Err(), context.Canceled) {
			t.Error(inner.Err())
		}
		done()
	}
}

const writers = 16

// oneByOne and inGroups append records to a file and sync it.
func oneByOne(tb testing.TB, file *os.File) (write func([]byte) error, end func()) {
	var mu sync.Mutex
	return func(record []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if _, err := file.Write(record); err != nil {
			return err
		}
		return file.Sync()
	}, func() {}
}

func inGroups(tb testing.TB, file *os.File) (write func([]byte) error, end func()) {
	w, err := batch.New(batch.Config[[]byte, struct{}]{
		MaxSize: 1000,
		Flush: func(_ context.Context, items []*batch.Item[[]byte, struct{}]) error {
			var group []byte
			for _, it := range items {
				group = append(group, it.Value...)
			}
			if _, err := file.Write(group); err != nil {
				return err
			}
			return file.Sync()
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return func(record []byte) error {
			_, err := w.Do(context.Background(), record)
			return err
		}, func() {
			if err := w.Close(); err != nil {
				tb.Error(err)
			}
		}
}

// BenchmarkBatch makes records durable for sixteen writers at a time.
func BenchmarkBatch(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "journal"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	write, end := micro.Of(oneByOne, inGroups)(b, file)
	record := []byte("2026-03-01T12:00:00Z A-1017 1250 EUR paid\n")
	b.SetParallelism(writers)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := write(record); err != nil {
				b.Error(err)
				return
			}
		}
	})
	end()
}

// TestBatchKeepsAll: each record is in the file, whole, when its write returns.
func TestBatchKeepsAll(t *testing.T) {
	for name, way := range map[string]func(testing.TB, *os.File) (func([]byte) error,
		func()){"one by one": oneByOne, "in groups": inGroups} {
		file, err := os.Create(filepath.Join(t.TempDir(), "journal"))
		if err != nil {
			t.Fatal(err)
		}
		write, end := way(t, file)
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for range 5 {
					if err := write([]byte{byte('a' + w), '\n'}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		end()
		data, err := os.ReadFile(file.Name())
		counts := map[byte]int{}
		for i := 0; i+1 < len(data); i += 2 {
			counts[data[i]]++
		}
		if err != nil || len(data) != 8*5*2 || len(counts) != 8 || counts['c'] != 5 {
			t.Errorf("%s: %d bytes, %v, %v", name, len(data), counts, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}
