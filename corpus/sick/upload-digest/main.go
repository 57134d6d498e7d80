// Command upload-digest notes the checksums of small uploads.
package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"sync"
	"time"
)

// options of the service; serve has the defaults.
type options struct {
	addr    string
	chunk   int // bytes read at a time
	maximum int64
	keep    int // digests that are remembered
}

type option func(*options)

func withAddr(a string) option      { return func(o *options) { o.addr = a } }
func withMaximum(n int64) option    { return func(o *options) { o.maximum = n } }
func withChunk(bytes int) option    { return func(o *options) { o.chunk = bytes } }
func withMemory(digests int) option { return func(o *options) { o.keep = digests } }

var errTooLarge = errors.New("upload is too large")

type digester struct {
	options
	table *crc32.Table
}

// sum reads r to its end and returns its checksum and length.
func (d *digester) sum(r io.Reader) (string, int64, error) {
	var h hash.Hash32 = crc32.New(d.table)
	buf := make([]byte, d.chunk)
	var total int64
	for {
		n, err := r.Read(buf)
		_, _ = h.Write(buf[:n])
		if total += int64(n); total > d.maximum {
			return "", total, errTooLarge
		}
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), total, nil
		}
		if err != nil {
			return "", total, fmt.Errorf("after %d bytes: %w", total, err)
		}
	}
}

// recent is a ring of the latest digests.
type recent struct {
	mu   sync.Mutex
	ring []string
	next int
}

func (r *recent) add(digest string) (seen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.ring {
		if d == digest {
			seen = true
			break
		}
	}
	r.ring[r.next] = digest
	r.next = (r.next + 1) % len(r.ring)
	return seen
}

func serve(opts ...option) error {
	o := options{addr: "127.0.0.1:8080", chunk: 32 << 10, maximum: 32 << 20, keep: 16}
	for _, set := range opts {
		set(&o)
	}
	d := &digester{options: o, table: crc32.MakeTable(crc32.Castagnoli)}
	seen := &recent{ring: make([]string, o.keep)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("PUT /uploads/{name}", func(w http.ResponseWriter, r *http.Request) {
		digest, n, err := d.sum(r.Body)
		if errors.Is(err, errTooLarge) {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "read", http.StatusBadRequest)
			return
		}
		w.Header().Set("ETag", `"`+digest+`"`)
		fmt.Fprintf(w, "%s %d %t\n", r.PathValue("name"), n, seen.add(digest))
	})
	return (&http.Server{Addr: o.addr, Handler: mux, ReadTimeout: time.Minute}).ListenAndServe()
}

func main() {
	log.Fatal(serve(withAddr("127.0.0.1:9209"), withMaximum(64<<20), withChunk(4<<20), withMemory(32)))
}
