package export

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// receiver is a real HTTP server that keeps what it is sent. Its answers are
// taken from the list, then it says 200.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(w http.ResponseWriter)
	got     []*http.Request
	bodies  [][]byte
	came    chan struct{}
}

func newReceiver(t *testing.T, answers ...func(http.ResponseWriter)) *receiver {
	r := &receiver{answers: answers, came: make(chan struct{}, 1<<12)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.got, r.bodies = append(r.got, q), append(r.bodies, body)
		var answer func(http.ResponseWriter)
		if len(r.answers) > 0 {
			answer, r.answers = r.answers[0], r.answers[1:]
		}
		r.mu.Unlock()
		if answer != nil {
			answer(w)
		}
		r.came <- struct{}{}
	}))
	t.Cleanup(r.Server.Close)
	return r
}

func status(code int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { http.Error(w, text, code) }
}

// address is the receiver's URL with a path.
func (r *receiver) address(path string) string { return r.URL + path }

// written is a series of remote write.
type written struct {
	labels map[string]string
	order  []string
	at     []int64
	values []float64
}

// decodeWrite decodes remote write by its specification.
func decodeWrite(t *testing.T, body []byte) (all []written, types map[string]uint64) {
	t.Helper()
	raw, err := snappy.Decode(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	types = map[string]uint64{}
	fields(t, raw, func(n protowire.Number, b []byte, _ uint64) {
		switch n {
		case 1:
			s := written{labels: map[string]string{}}
			fields(t, b, func(n protowire.Number, b []byte, _ uint64) {
				if n == 1 {
					var l [3]string
					fields(t, b, func(n protowire.Number, b []byte, _ uint64) { l[n] = string(b) })
					s.labels[l[1]] = l[2]
					s.order = append(s.order, l[1])
					return
				}
				var at int64
				var v float64
				fields(t, b, func(n protowire.Number, _ []byte, x uint64) {
					if n == 1 {
						v = math.Float64frombits(x)
					} else {
						at = int64(x)
					}
				})
				s.at, s.values = append(s.at, at), append(s.values, v)
			})
			all = append(all, s)
		case 3:
			name, kind := "", uint64(0)
			fields(t, b, func(n protowire.Number, b []byte, x uint64) {
				switch n {
				case 1:
					kind = x
				case 2:
					name = string(b)
				}
			})
			types[name] = kind
		default:
			t.Errorf("field %d", n)
		}
	})
	return all, types
}

func fields(t *testing.T, b []byte, each func(protowire.Number, []byte, uint64)) {
	t.Helper()
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		var part []byte
		var x uint64
		switch kind {
		case protowire.BytesType:
			part, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			x, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			x, size = protowire.ConsumeFixed64(b)
		default:
			t.Fatalf("wire type %d", kind)
		}
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		each(n, part, x)
	}
}

// formParts reads a multipart body.
func formParts(t *testing.T, q *http.Request, body []byte) map[string][]byte {
	t.Helper()
	_, params, err := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts[part.FormName()], err = io.ReadAll(part); err != nil {
			t.Fatal(err)
		}
	}
}

// stand is a tee over a real bundle.
type stand struct {
	*Tee
	clock timebase.Clock
	dir   string
	page  string
}

func newStand(t *testing.T, x scenario.Export) *stand {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(Options{Export: x, Clock: clock, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Abandon)
	e.every = time.Hour // the test sends
	dir := t.TempDir() + "/20260131-orders"
	w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(record.Complete, ""); err != nil {
			t.Error(err)
		}
	})
	id := Identity{Run: "20260131-orders", Scenario: "orders", Service: "gateway"}
	return &stand{Tee: e.Tee(w, id, nil), clock: clock, dir: dir, page: e.Page()}
}

// drive delivers three windows of a small run, a late amount among them.
func (s *stand) drive(t *testing.T) {
	t.Helper()
	var c histogram.Counts
	for _, ms := range []time.Duration{1, 2, 4, 400} {
		c.Add(int64(ms * time.Millisecond))
	}
	for w := range int64(3) {
		err := errors.Join(
			s.Add(
				series.Point{Window: w, Series: series.Series{Name: series.LoadRequests, Unit: "1"}, Value: 4},
				series.Point{Window: w, Series: series.Series{Name: series.LoadInFlight, Unit: "1"}, Value: float64(w)},
				series.Point{Window: w, Series: series.Series{Name: series.LoadLatency,
					Labels: series.Labels("q", "p99"), Unit: "ns"}, Value: 4e8},
			),
			s.Add(
				series.Point{Window: w, Series: series.Series{Name: series.ProcessUser, Unit: "ns"}, Value: 5e7},
				series.Point{Window: w, Series: series.Series{Name: "/gc/heap/allocs:bytes", Unit: "bytes"}, Value: 1 << 20},
				series.Point{Window: w, Series: series.Series{Name: series.LoadErrors, Labels: series.Labels("kind",
					`bad "one"`), Unit: "1"}, Value: 0.5},
			),
			s.Counts("list", histogram.Latency, timebase.WindowSpan(w, timebase.DefaultWindow), &c),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
