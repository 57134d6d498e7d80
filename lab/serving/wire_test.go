package serving_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	gojson "github.com/goccy/go-json" // a drop-in that is kept; jsoniter, of the claim, is archived
	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5" // the claim's encoding

	"github.com/redline-go/redline/lab/micro"
)

// order is what a service of orders answers with.
type order struct {
	ID       string    `json:"id" msgpack:"id"`
	Customer int64     `json:"customer" msgpack:"customer"`
	Amount   int64     `json:"amount" msgpack:"amount"`
	Currency string    `json:"currency" msgpack:"currency"`
	Paid     bool      `json:"paid" msgpack:"paid"`
	At       time.Time `json:"at" msgpack:"at"`
	Items    []item    `json:"items" msgpack:"items"`
}

type item struct {
	SKU   string `json:"sku" msgpack:"sku"`
	Count int    `json:"count" msgpack:"count"`
	Cents int64  `json:"cents" msgpack:"cents"`
}

func orders(n int) []order {
	list := make([]order, n)
	for i := range list {
		list[i] = order{ID: "A-" + strconv.Itoa(1000+i), Customer: int64(7 * i), Amount: int64(i) * 1250, Currency: "EUR", Paid: i%3 == 0,
			At: time.Date(2026, 3, 1, 12, i%60, 0, 0, time.UTC), Items: []item{{"pen", 3, 120}, {"paper <A4> & \u2028", 1 + i%4, 990}}}
	}
	return list
}

// BenchmarkJSONEncode encodes twenty orders, BenchmarkJSONDecode reads them: by
// encoding/json, or by a package that takes its place.
func BenchmarkJSONEncode(b *testing.B) {
	list, marshal := orders(20), micro.Of(json.Marshal, gojson.Marshal)
	for b.Loop() {
		if data, err := marshal(list); err != nil || len(data) == 0 {
			b.Fatal(len(data), err)
		}
	}
}

func BenchmarkJSONDecode(b *testing.B) {
	unmarshal := micro.Of(json.Unmarshal, func(data []byte, v any) error { return gojson.Unmarshal(data, v) })
	data, err := json.Marshal(orders(20))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var back []order
		if err := unmarshal(data, &back); err != nil || len(back) != 20 {
			b.Fatal(len(back), err)
		}
	}
}

// TestJSONPackagesAgree: equal bytes, with what HTML and JavaScript take for their own
// escaped, and equal values back.
func TestJSONPackagesAgree(t *testing.T) {
	want, err := json.Marshal(orders(50))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gojson.Marshal(orders(50))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %.200s\n%.200s", err, got, want)
	}
	var back []order
	if err := gojson.Unmarshal(want, &back); err != nil || !reflect.DeepEqual(back, orders(50)) {
		t.Errorf("%v: %.200v", err, back)
	}
}

// EncodeMsgpack is what a generator writes for the type: reflection would put each time on
// the heap.
func (o *order) EncodeMsgpack(e *msgpack.Encoder) error {
	err := errors.Join(e.EncodeMapLen(7),
		e.EncodeString("id"), e.EncodeString(o.ID), e.EncodeString("customer"), e.EncodeInt(o.Customer),
		e.EncodeString("amount"), e.EncodeInt(o.Amount), e.EncodeString("currency"), e.EncodeString(o.Currency),
		e.EncodeString("paid"), e.EncodeBool(o.Paid), e.EncodeString("at"), e.EncodeTime(o.At),
		e.EncodeString("items"), e.EncodeArrayLen(len(o.Items)))
	for _, it := range o.Items {
		err = errors.Join(err, e.EncodeMapLen(3), e.EncodeString("sku"), e.EncodeString(it.SKU),
			e.EncodeString("count"), e.EncodeInt(int64(it.Count)), e.EncodeString("cents"), e.EncodeInt(it.Cents))
	}
	return err
}

// packer writes orders as MessagePack under zstd, into buffers that it keeps: what it
// returns lasts until the next call.
type packer struct {
	list   []order // a place for the list that is not made anew for each call
	plain  bytes.Buffer
	packed []byte
	encode *msgpack.Encoder
	zstd   *zstd.Encoder
}

func newPacker() (*packer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	p := &packer{zstd: z}
	p.encode = msgpack.NewEncoder(&p.plain)
	return p, nil
}

func (p *packer) pack(list []order) ([]byte, error) {
	p.plain.Reset()
	p.encode.Reset(&p.plain)
	p.list = list
	if err := p.encode.Encode(&p.list); err != nil {
		return nil, err
	}
	p.packed = p.zstd.EncodeAll(p.plain.Bytes(), p.packed[:0])
	return p.packed, nil
}

// BenchmarkWire writes orders that are 10 KB as JSON: as that, or as MessagePack under
// zstd in buffers that are kept. BenchmarkSmallWire writes a single order.
func BenchmarkWire(b *testing.B)      { pack(b, orders(47)) }
func BenchmarkSmallWire(b *testing.B) { pack(b, orders(1)) }

func pack(b *testing.B, list []order) {
	p, err := newPacker()
	if err != nil {
		b.Fatal(err)
	}
	encode := micro.Of(func(list []order) ([]byte, error) { return json.Marshal(list) }, p.pack)
	if _, err := encode(list); err != nil { // its buffers have their size from here on
		b.Fatal(err)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		data, err := encode(list)
		if err != nil {
			b.Fatal(err)
		}
		n = len(data)
	}
	b.ReportMetric(float64(n), "B/answer")
}

// TestWire: what is packed comes back equal, through buffers that were used before. Who
// keeps an answer past the next call holds the next one's bytes.
func TestWire(t *testing.T) {
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	unzip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unzip.Close()
	if data, err := json.Marshal(orders(47)); err != nil || len(data) < 9<<10 || len(data) > 11<<10 {
		t.Errorf("%d bytes as JSON, %v", len(data), err)
	}
	var first, copied []byte
	for n := range 3 {
		data, err := p.pack(orders(47 - n))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first, copied = data, bytes.Clone(data)
		}
		plain, err := unzip.DecodeAll(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		var back []order
		if err := msgpack.Unmarshal(plain, &back); err != nil || len(back) != 47-n {
			t.Fatalf("%v: %.200v", err, back)
		}
		if want := orders(8)[7]; !back[7].At.Equal(want.At) || !reflect.DeepEqual(back[7].Items, want.Items) {
			t.Errorf("%+v, want %+v", back[7], want)
		}
	}
	if bytes.Equal(first, copied) {
		t.Error("an answer outlived the calls behind it: the safety note is out of date")
	}
}
