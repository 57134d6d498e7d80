package reply

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// The appenders below write keys in alphabetical order and escape as
// encoding/json does; TestEncodersAgree and FuzzAppendString hold them to it.
// (Invalid UTF-8, which PostgreSQL does not store, is escaped here as one
// marshalling would; the naive encoder marshals twice.)

func appendOrder(b []byte, o *order.Order) []byte {
	b = appendInt(append(b, `{"amount_cents":`...), o.AmountCents)
	b = appendString(append(b, `,"card":{"brand":`...), o.Card.Brand)
	b = appendString(append(b, `,"country":`...), o.Card.Country)
	b = appendString(append(b, `,"issuer":`...), o.Card.Issuer)
	b = appendString(append(b, `,"number":`...), order.MaskTail(o.Card.Number, order.CardLead))
	b = appendString(append(b, `},"channel":`...), o.Channel)
	b = appendString(append(b, `,"client_ip":`...), o.ClientIP)
	b = appendTime(append(b, `,"created_at":`...), o.CreatedAt)
	b = appendString(append(b, `,"currency":`...), o.Currency)
	b = append(b, `,"events":[`...)
	for i := range o.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEvent(b, &o.Events[i])
	}
	b = appendInt(append(b, `],"fee_cents":`...), o.FeeCents)
	b = appendInt(append(b, `,"id":`...), o.ID)
	b = append(b, `,"items":[`...)
	for i := range o.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendItem(b, &o.Items[i])
	}
	b = appendInt(append(b, `],"merchant":{"id":`...), o.Merchant.ID)
	b = appendString(append(b, `,"name":`...), o.Merchant.Name)
	b = appendString(append(b, `},"order_no":`...), o.OrderNo)
	b = append(b, `,"reversed_at":`...)
	if o.ReversedAt == nil {
		b = append(b, "null"...)
	} else {
		b = appendTime(b, *o.ReversedAt)
	}
	b = appendString(append(b, `,"status":`...), o.Status)
	b = appendTime(append(b, `,"updated_at":`...), o.UpdatedAt)
	b = appendInt(append(b, `,"user_id":`...), o.UserID)
	return append(b, '}')
}

func appendEvent(b []byte, e *order.Event) []byte {
	b = appendString(append(b, `{"actor":`...), e.Actor)
	b = appendTime(append(b, `,"at":`...), e.At)
	b = appendInt(append(b, `,"id":`...), e.ID)
	b = appendString(append(b, `,"kind":`...), e.Kind)
	b = appendString(append(b, `,"note":`...), e.Note)
	return append(b, '}')
}

func appendItem(b []byte, i *order.Item) []byte {
	b = appendInt(append(b, `{"amount_cents":`...), i.AmountCents)
	b = appendInt(append(b, `,"id":`...), i.ID)
	b = appendString(append(b, `,"name":`...), i.Name)
	b = appendInt(append(b, `,"quantity":`...), i.Quantity)
	b = appendString(append(b, `,"sku":`...), i.SKU)
	b = appendInt(append(b, `,"unit_price_cents":`...), i.UnitPriceCents)
	return append(b, '}')
}

func appendBalance(b []byte, a *order.Balance) []byte {
	b = appendInt(append(b, `{"balance_cents":`...), a.BalanceCents)
	b = appendString(append(b, `,"currency":`...), a.Currency)
	b = appendString(append(b, `,"name":`...), a.Name)
	b = appendString(append(b, `,"phone":`...), order.MaskTail(a.Phone, order.PhoneLead))
	b = appendTime(append(b, `,"updated_at":`...), a.UpdatedAt)
	b = appendInt(append(b, `,"user_id":`...), a.UserID)
	return append(b, '}')
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendTime writes what time.Time marshals to, for the years 0 to 9999.
func appendTime(b []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string with encoding/json's escapes: HTML's
// characters, U+2028, U+2029 and invalid UTF-8 included.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
				i++
				continue
			}
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
