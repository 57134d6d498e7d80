package versus3

import (
	stdjson "encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/bytedance/sonic"
	gojson "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/redline-go/redline/kit/jsonreply"
)

func itoa(n int) string { return strconv.Itoa(n) }

type order struct {
	ID     int64    `json:"id"`
	User   string   `json:"user"`
	Cents  int      `json:"cents"`
	Status string   `json:"status"`
	Tags   []string `json:"tags"`
}

// orders are some size bytes of JSON.
func orders(size int) []order {
	all := make([]order, max(size/100, 1))
	for i := range all {
		all[i] = order{int64(i), "user" + itoa(i), i * 7, "paid", []string{"web", "first", "express"}}
	}
	return all
}

func appendSonic(dst []byte, v any) ([]byte, error) {
	// sonic's own pool holds its buffer: what it returns is a copy.
	b, err := sonic.ConfigStd.Marshal(v)
	return append(dst, b...), err
}

// replies are ways to answer with JSON. Each gives the bytes of encoding/json, some with
// a line at the end.
var replies = []struct {
	kind  string
	write func(http.ResponseWriter, any) error
}{
	{"marshal", func(w http.ResponseWriter, v any) error { return marshalled(w, v, stdjson.Marshal) }},
	{"encoder", func(w http.ResponseWriter, v any) error {
		w.Header().Set("Content-Type", "application/json")
		return stdjson.NewEncoder(w).Encode(v)
	}},
	{"kit", reply(&jsonreply.Writer{})},
	{"goccy", func(w http.ResponseWriter, v any) error { return marshalled(w, v, gojson.Marshal) }},
	{"sonic", func(w http.ResponseWriter, v any) error { return marshalled(w, v, sonic.ConfigStd.Marshal) }},
	{"segmentio", func(w http.ResponseWriter, v any) error { return marshalled(w, v, segmentio.Marshal) }},
	{"kit+segmentio", reply(&jsonreply.Writer{Append: func(dst []byte, v any) ([]byte, error) {
		return segmentio.Append(dst, v, segmentio.EscapeHTML|segmentio.SortMapKeys)
	}})},
	{"kit+sonic", reply(&jsonreply.Writer{Append: appendSonic})},
}

func reply(x *jsonreply.Writer) func(http.ResponseWriter, any) error {
	return func(w http.ResponseWriter, v any) error { return x.Write(w, http.StatusOK, v) }
}

func marshalled(w http.ResponseWriter, v any, marshal func(any) ([]byte, error)) error {
	body, err := marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, err = w.Write(body)
	return err
}

// TestSameJSON: what is compared must do the same work.
func TestSameJSON(t *testing.T) {
	want, err := stdjson.Marshal(orders(5000))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range replies {
		w := httptest.NewRecorder()
		if err := r.write(w, orders(5000)); err != nil {
			t.Fatal(err)
		}
		if got := w.Body.String(); got != string(want) && got != string(want)+"\n" {
			t.Errorf("%s: %.200s", r.kind, got)
		}
	}
}

type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkReply encodes an answer and hands it to nobody.
func BenchmarkReply(b *testing.B) {
	for _, size := range []int{200, 5_000, 50_000} {
		value := orders(size)
		for _, r := range replies {
			b.Run(fmt.Sprintf("size=%d/kind=%s", size, r.kind), func(b *testing.B) {
				b.ReportAllocs()
				defer cpu(b)()
				for b.Loop() {
					if err := r.write(nowhere{http.Header{}}, value); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkServe is a whole request over a loopback connection that is kept alive.
func BenchmarkServe(b *testing.B) {
	for _, size := range []int{200, 5_000, 50_000} {
		value := orders(size)
		for _, r := range replies {
			b.Run(fmt.Sprintf("size=%d/kind=%s", size, r.kind), func(b *testing.B) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if err := r.write(w, value); err != nil {
						b.Error(err)
					}
				}))
				defer server.Close()
				client := server.Client()
				b.ReportAllocs()
				defer cpu(b)()
				for b.Loop() {
					response, err := client.Get(server.URL)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, response.Body); err != nil {
						b.Fatal(err)
					}
					response.Body.Close()
				}
			})
		}
	}
}
