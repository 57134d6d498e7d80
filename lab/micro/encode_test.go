package micro_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/jsonreply"
	"github.com/redline-go/redline/lab/micro"
)

// order is what the lab's gateway answers with.
type order struct {
	ID       string    `json:"id"`
	Customer int64     `json:"customer"`
	Amount   int64     `json:"amount"`
	Currency string    `json:"currency"`
	Paid     bool      `json:"paid"`
	At       time.Time `json:"at"`
	Items    []item    `json:"items"`
}

type item struct {
	SKU   string `json:"sku"`
	Count int    `json:"count"`
	Cents int64  `json:"cents"`
}

func orders(n int) []order {
	list := make([]order, n)
	for i := range list {
		list[i] = order{ID: "A-" + strconv.Itoa(1000+i), Customer: int64(7 * i), Amount: int64(i) * 1250, Currency: "EUR", Paid: i%3 == 0,
			At: time.Date(2026, 3, 1, 12, i%60, 0, 0, time.UTC), Items: []item{{"pen", 3, 120}, {"paper", 1 + i%4, 990}}}
	}
	return list
}

// appendOrders is what a generator writes for the type: no reflection, one buffer.
func appendOrders(b []byte, list []order) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = list[i].appendTo(b)
	}
	return append(b, ']')
}

// appendTo writes texts as they are: those of an order hold nothing that JSON escapes.
func (o *order) appendTo(b []byte) []byte {
	b = append(append(append(b, `{"id":"`...), o.ID...), `","customer":`...)
	b = strconv.AppendInt(b, o.Customer, 10)
	b = strconv.AppendInt(append(b, `,"amount":`...), o.Amount, 10)
	b = append(append(append(b, `,"currency":"`...), o.Currency...), `","paid":`...)
	b = strconv.AppendBool(b, o.Paid)
	b = o.At.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano)
	b = append(b, `","items":[`...)
	for i, it := range o.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"sku":"`...), it.SKU...), `","count":`...)
		b = strconv.AppendInt(b, int64(it.Count), 10)
		b = append(strconv.AppendInt(append(b, `,"cents":`...), it.Cents, 10), '}')
	}
	return append(b, "]}"...)
}

// BenchmarkEncoder encodes twenty orders: by reflection, or as a generator's code does.
func BenchmarkEncoder(b *testing.B) {
	list := orders(20)
	var buf []byte
	encode := micro.Of(
		func() (int, error) { data, err := json.Marshal(list); return len(data), err },
		func() (int, error) { buf = appendOrders(buf[:0], list); return len(buf), nil })
	b.ReportAllocs()
	for b.Loop() {
		if n, err := encode(); err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
}

func TestEncodersAgree(t *testing.T) {
	want, err := json.Marshal(orders(50))
	if err != nil {
		t.Fatal(err)
	}
	if got := appendOrders(nil, orders(50)); !bytes.Equal(got, want) {
		t.Errorf("%.200s\n%.200s", got, want)
	}
}

// BenchmarkReply answers with twenty orders: marshalled for each request, or encoded into
// a buffer that kit's jsonreply keeps.
func BenchmarkReply(b *testing.B) {
	list := orders(20)
	reply := micro.Of(marshalled, kept)
	b.ReportAllocs()
	w := &discarded{header: http.Header{}}
	for b.Loop() {
		w.n = 0
		if err := reply(w, list); err != nil || w.n == 0 {
			b.Fatal(w.n, err)
		}
	}
}

func marshalled(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(data, '\n'))
	return err
}

func kept(w http.ResponseWriter, v any) error { return jsonreply.Write(w, http.StatusOK, v) }

// discarded is an answer that nobody reads.
type discarded struct {
	header http.Header
	n      int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(int)             {}
func (d *discarded) Write(b []byte) (int, error) { d.n += len(b); return len(b), nil }

func TestRepliesAgree(t *testing.T) {
	a, b := httptest.NewRecorder(), httptest.NewRecorder()
	for range 3 { // the buffer of one answer is the next one's
		a, b = httptest.NewRecorder(), httptest.NewRecorder()
		if err := marshalled(a, orders(20)); err != nil {
			t.Fatal(err)
		}
		if err := kept(b, orders(20)); err != nil {
			t.Fatal(err)
		}
	}
	var x, y []order
	if err := json.Unmarshal(a.Body.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Body.Bytes(), &y); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("%v\n%v", x, y)
	}
}

// brief is an order with short names and without what the client knows already.
type brief struct {
	I string  `json:"i"`
	A int64   `json:"a"`
	P bool    `json:"p,omitempty"`
	T int64   `json:"t"`
	L []short `json:"l"`
}

type short struct {
	S string `json:"s"`
	N int    `json:"n"`
	C int64  `json:"c"`
}

func briefly(list []order) []brief {
	out := make([]brief, len(list))
	for i, o := range list {
		out[i] = brief{I: o.ID, A: o.Amount, P: o.Paid, T: o.At.Unix()}
		for _, it := range o.Items {
			out[i].L = append(out[i].L, short{it.SKU, it.Count, it.Cents})
		}
	}
	return out
}

// BenchmarkShortNames and BenchmarkGzip report how many bytes an answer of twenty orders
// has on the wire.
func BenchmarkShortNames(b *testing.B) { onWire(b, micro.Of(plain, shortened)) }

func BenchmarkGzip(b *testing.B) { onWire(b, micro.Of(plain, zipped)) }

func onWire(b *testing.B, encode func([]order) ([]byte, error)) {
	list, n := orders(20), 0
	for b.Loop() {
		data, err := encode(list)
		if err != nil {
			b.Fatal(err)
		}
		n = len(data)
	}
	b.ReportMetric(float64(n), "B/answer")
}

func plain(list []order) ([]byte, error)     { return json.Marshal(list) }
func shortened(list []order) ([]byte, error) { return json.Marshal(briefly(list)) }

func zipped(list []order) ([]byte, error) {
	data, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func TestWireForms(t *testing.T) {
	list := orders(20)
	data, err := zipped(list)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var back []order
	if err := json.NewDecoder(r).Decode(&back); err != nil || fmt.Sprint(back) != fmt.Sprint(list) {
		t.Errorf("%v: %v", err, back)
	}
	data, err = shortened(list)
	var few []brief
	if err != nil || json.Unmarshal(data, &few) != nil || len(few) != 20 || few[3].I != list[3].ID ||
		few[3].L[1].N != list[3].Items[1].Count {
		t.Errorf("%v: %.200s", err, data)
	}
}

// BenchmarkCopies builds an answer of 64 KiB from its parts and hands it on: through a
// bytes.Buffer and its string, or in one slice of the right size that is handed on itself.
func BenchmarkCopies(b *testing.B) {
	parts := chunks()
	build := micro.Of(copied, viewed)
	b.SetBytes(64 << 10)
	for b.Loop() {
		if n := build(parts); n != 64<<10 {
			b.Fatal(n)
		}
	}
}

func chunks() [][]byte {
	parts := make([][]byte, 64)
	for i := range parts {
		parts[i] = bytes.Repeat([]byte{byte('a' + i%26)}, 1<<10)
	}
	return parts
}

//go:noinline
func copied(parts [][]byte) int {
	var buf bytes.Buffer
	for _, p := range parts {
		buf.Write(p)
	}
	//lint:ignore S1030 the copy is what the claim is about
	return send([]byte(buf.String()))
}

//go:noinline
func viewed(parts [][]byte) int {
	total := 0
	for _, p := range parts {
		total += len(p)
	}
	buf := make([]byte, 0, total)
	for _, p := range parts {
		buf = append(buf, p...)
	}
	return send(buf)
}

//go:noinline
func send(b []byte) int { return len(b) }

func TestCopies(t *testing.T) {
	if a, b := copied(chunks()), viewed(chunks()); a != b {
		t.Errorf("%d and %d bytes", a, b)
	}
}
