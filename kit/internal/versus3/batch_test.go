package versus3

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/api/support/bundler"

	"github.com/redline-go/redline/kit/batch"
)

// journal is a file to which records are appended, safely on disk when append returns.
// Without a file each append takes a millisecond: what other processes write to the same
// disk then disturbs nothing.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func (j *journal) append(records ...[]byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		time.Sleep(time.Millisecond)
		return nil
	}
	var all []byte
	for _, r := range records {
		all = append(all, r...)
	}
	if _, err := j.file.Write(all); err != nil {
		return err
	}
	return j.file.Sync()
}

const (
	most  = 1000
	delay = 5 * time.Millisecond
)

// entry is a record with the channel that its caller waits on, for what gives no results.
type entry struct {
	record  []byte
	written chan error
}

func (j *journal) flush(entries []*entry) {
	records := make([][]byte, len(entries))
	for i, e := range entries {
		records[i] = e.record
	}
	err := j.append(records...)
	for _, e := range entries {
		e.written <- err
	}
}

// collected is the form that services write by hand: a goroutine with a ticker.
func collected(b *testing.B, j *journal) func([]byte) error {
	in := make(chan *entry, most)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(delay)
		defer ticker.Stop()
		var batch []*entry
		for {
			select {
			case e, ok := <-in:
				if !ok {
					return
				}
				if batch = append(batch, e); len(batch) < most {
					continue
				}
			case <-ticker.C:
			}
			if len(batch) > 0 {
				j.flush(batch)
				batch = nil
			}
		}
	})
	b.Cleanup(func() { close(in); done.Wait() })
	return func(record []byte) error {
		e := &entry{record, make(chan error, 1)}
		in <- e
		return <-e.written
	}
}

func bundled(b *testing.B, j *journal) func([]byte) error {
	bun := bundler.NewBundler(&entry{}, func(p any) { j.flush(p.([]*entry)) })
	bun.DelayThreshold, bun.BundleCountThreshold = delay, most
	b.Cleanup(bun.Flush)
	return func(record []byte) error {
		e := &entry{record, make(chan error, 1)}
		if err := bun.AddWait(context.Background(), e, len(record)); err != nil {
			return err
		}
		return <-e.written
	}
}

func grouped(b *testing.B, j *journal, delay time.Duration) func([]byte) error {
	w, err := batch.New(batch.Config[[]byte, struct{}]{MaxSize: most, MaxDelay: delay,
		Flush: func(_ context.Context, items []*batch.Item[[]byte, struct{}]) error {
			records := make([][]byte, len(items))
			for i, item := range items {
				records[i] = item.Value
			}
			return j.append(records...)
		}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return func(record []byte) error {
		_, err := w.Do(context.Background(), record)
		return err
	}
}

// BenchmarkDisk appends records of 100 bytes to a file, each on disk before its caller
// goes on; callers run side by side. ns/op is the time per record of all callers
// together, wait-ns/op what one caller waits.
func BenchmarkDisk(b *testing.B) {
	writers(b, func(b *testing.B) *journal {
		file, err := os.Create(filepath.Join(b.TempDir(), "journal"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { file.Close() })
		return &journal{file: file}
	})
}

// BenchmarkMillisecond is the same with writes that take a millisecond each.
func BenchmarkMillisecond(b *testing.B) {
	writers(b, func(*testing.B) *journal { return &journal{} })
}

func writers(b *testing.B, open func(*testing.B) *journal) {
	for _, callers := range []int{1, 64, 1024} {
		for _, kind := range []string{"each", "kit", "kit5ms", "bundler5ms", "ticker5ms"} {
			b.Run("callers="+itoa(callers)+"/kind="+kind, func(b *testing.B) {
				j := open(b)
				write := map[string]func() func([]byte) error{
					"each":       func() func([]byte) error { return func(r []byte) error { return j.append(r) } },
					"kit":        func() func([]byte) error { return grouped(b, j, 0) },
					"kit5ms":     func() func([]byte) error { return grouped(b, j, delay) },
					"bundler5ms": func() func([]byte) error { return bundled(b, j) },
					"ticker5ms":  func() func([]byte) error { return collected(b, j) },
				}[kind]()
				drive(b, callers, write)
			})
		}
	}
}

// drive has callers write b.N records.
func drive(b *testing.B, callers int, write func([]byte) error) {
	record := make([]byte, 100)
	b.ResetTimer()
	defer cpu(b)()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for n := caller; n < b.N; n += callers {
				if err := write(record); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())*float64(min(callers, b.N))/float64(b.N), "wait-ns/op")
}
