// Package reply writes the gateway's JSON bodies. There are two encoders with
// the same output to the byte: one as such services have it (marshal to JSON,
// decode to a map, mask what must not leave, marshal again), and one that
// appends straight from the typed value.
//
// Every body is {"code":…,"data":…,"message":…} with keys in alphabetical order,
// which is what encoding/json makes of a map.
package reply

import (
	"bytes"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// Encoder writes bodies; the zero Encoder is the naive one.
type Encoder struct {
	// Append writes without reflection.
	Append bool
}

// Order appends the body that shows o.
func (e Encoder) Order(b *bytes.Buffer, o *order.Order) error {
	if !e.Append {
		return reencode(b, o)
	}
	buf := append(b.AvailableBuffer(), `{"code":0,"data":`...)
	buf = appendOrder(buf, o)
	b.Write(append(buf, `,"message":"ok"}`...))
	return nil
}

// Balance appends the body that shows a.
func (e Encoder) Balance(b *bytes.Buffer, a *order.Balance) error {
	if !e.Append {
		return reencode(b, a)
	}
	buf := append(b.AvailableBuffer(), `{"code":0,"data":`...)
	buf = appendBalance(buf, a)
	b.Write(append(buf, `,"message":"ok"}`...))
	return nil
}

// Failure appends the body of a failed request. Code is the API's own number,
// whose first three digits are the HTTP status.
func (e Encoder) Failure(b *bytes.Buffer, code int, message string) {
	buf := append(b.AvailableBuffer(), `{"code":`...)
	buf = appendInt(buf, int64(code))
	buf = append(buf, `,"data":null,"message":`...)
	buf = appendString(buf, message)
	b.Write(append(buf, '}'))
}
