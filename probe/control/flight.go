//go:build go1.25
// +build go1.25

package control

import (
	"errors"
	"io"
	"runtime/trace"
	"sync"
	"time"
)

// flight is the runtime's flight recorder: it keeps the last stretch of an
// execution trace in memory.
type flight struct {
	mu       sync.Mutex
	recorder *trace.FlightRecorder
	length   time.Duration
	since    int64 // when it began, CLOCK_MONOTONIC ns
}

var errNotRecording = errors.New("the flight recorder does not run")

// start begins to record, and restarts a recording of ours. The runtime has one
// recorder: if the target itself uses it, start returns the runtime's error.
func (f *flight) start(length time.Duration, maxBytes, now int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
	r := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: length, MaxBytes: uint64(maxBytes)})
	if err := r.Start(); err != nil {
		return err
	}
	f.recorder, f.length, f.since = r, length, now
	return nil
}

// dump writes the kept trace to w, and returns the latest instant at which it
// can begin.
func (f *flight) dump(w io.Writer, now int64) (since int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recorder == nil {
		return 0, errNotRecording
	}
	since = now - int64(f.length)
	if since < f.since {
		since = f.since
	}
	_, err = f.recorder.WriteTo(w)
	return since, err
}

func (f *flight) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

func (f *flight) end() {
	if f.recorder != nil {
		f.recorder.Stop()
		f.recorder = nil
	}
}
