package goruntime

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/redline-go/redline/observe/observetest"
)

// Whatever a target does to its ring in the middle of a run, earlier readings stay,
// nothing is made up, and the rest of the run is a gap.
func TestMetricsOfARingThatGoesBad(t *testing.T) {
	const slotsAt, written = 28, 80 // offsets in the header of package ring
	for name, spoil := range map[string]func(data []byte) []byte{
		"emptied":    func([]byte) []byte { return nil },
		"cut":        func(data []byte) []byte { return data[:len(data)/2] },
		"header cut": func(data []byte) []byte { return data[:written+3] },
		"noise": func(data []byte) []byte {
			noise := rand.NewChaCha8([32]byte{1})
			_, _ = noise.Read(data)
			return data
		},
		"ever more samples": func(data []byte) []byte {
			binary.NativeEndian.PutUint64(data[written:], 1<<60)
			return data
		},
		"every slot torn": func(data []byte) []byte {
			for at := int(binary.NativeEndian.Uint32(data[slotsAt:])); at < len(data); at += 8 {
				binary.NativeEndian.PutUint64(data[at:], 3) // an odd sequence: being written
			}
			binary.NativeEndian.PutUint64(data[written:], 40)
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, subject := openMetrics(t)
			w := writeRing(t, subject.Ring)
			if err := m.Open(t.Context(), subject); err != nil {
				t.Fatal(err)
			}
			m.begun, m.last = 0, -1
			const ms = time.Millisecond
			for i := range 3 {
				put(t, w, subject, time.Duration(i+1)*100*ms, 1, float64(1000*i))
			}
			good := drained(t, subject, m).Points()
			data, err := os.ReadFile(subject.Ring)
			if err != nil {
				t.Fatal(err)
			}
			// In place: the probe's mapping and the reader's file are the same.
			if err := os.WriteFile(subject.Ring, spoil(data), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 900*ms)
			defer cancel()
			sink := &observetest.Sink{}
			if err := m.Run(ctx, sink); err != nil {
				t.Fatal(err)
			}
			if len(good) == 0 || sink.Len() != 0 {
				t.Errorf("%d points before, and %+v after the ring went bad", len(good), sink.Points())
			}
			h := m.Health()
			if len(h.Gaps) != 1 || h.Gaps[0].From.Round(ms) != 300*ms || h.Gaps[0].To < 900*ms || h.Why == "" {
				t.Errorf("gaps %+v, want one from the last sample to the end; %q", h.Gaps, h.Why)
			}
		})
	}
}
