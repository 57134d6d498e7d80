// Command telemetry-points answers what a fleet of meters measured.
// For every request a frame is unpacked into a heap object per reading
// and another for its labels, though only a sum leaves the service.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
)

const readingSize = 16

type reading struct {
	meter  uint32
	at     uint32
	watts  uint64
	labels *labels
	next   *reading
}

type labels struct {
	site, phase uint16
}

// unpack makes objects of records of a fixed size.
func unpack[T any](frame []byte, size int, one func([]byte) *T) []*T {
	out := make([]*T, 0, len(frame)/size)
	for ; len(frame) >= size; frame = frame[size:] {
		out = append(out, one(frame[:size]))
	}
	return out
}

func parseReading(b []byte) *reading {
	r := &reading{
		meter: binary.BigEndian.Uint32(b),
		at:    binary.BigEndian.Uint32(b[4:]),
		watts: binary.BigEndian.Uint64(b[8:]),
	}
	r.labels = &labels{site: uint16(r.meter >> 4), phase: uint16(r.meter & 3)}
	return r
}

type store struct{ frames [][]byte }

func fill(frames, readings int) *store {
	s := &store{}
	for range frames {
		f := make([]byte, 0, readings*readingSize)
		for i := range readings {
			f = binary.BigEndian.AppendUint32(f, rand.Uint32())
			f = binary.BigEndian.AppendUint32(f, uint32(i))
			f = binary.BigEndian.AppendUint64(f, rand.Uint64N(5000))
		}
		s.frames = append(s.frames, f)
	}
	return s
}

func (s *store) consumption(w http.ResponseWriter, r *http.Request) {
	frame := s.frames[rand.IntN(len(s.frames))]
	var watts uint64
	var last *reading
	for _, point := range unpack(frame, readingSize, parseReading) {
		point.next = last
		last = point
		if point.labels.phase == 1 {
			watts += point.watts
		}
	}
	fmt.Fprintf(w, `{"watts":%d}`, watts)
}

func main() {
	s := fill(32, 4000)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /consumption", s.consumption)
	if err := http.ListenAndServe("127.0.0.1:9602", mux); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
