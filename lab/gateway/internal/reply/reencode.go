package reply

import (
	"bytes"
	"encoding/json"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// reencode marshals view, decodes it to a map so that a generic walk can mask
// card and telephone numbers wherever they hide, and marshals the envelope.
func reencode(b *bytes.Buffer, view any) error {
	text, err := json.Marshal(view)
	if err != nil {
		return err
	}
	var data map[string]any
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	mask(data)
	body, err := json.Marshal(map[string]any{"code": 0, "message": "ok", "data": data})
	if err != nil {
		return err
	}
	b.Write(body)
	return nil
}

// mask hides numbers by the names of their keys, at any depth.
func mask(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			text, isText := inner.(string)
			switch {
			case isText && key == "number":
				v[key] = order.MaskTail(text, order.CardLead)
			case isText && key == "phone":
				v[key] = order.MaskTail(text, order.PhoneLead)
			default:
				mask(inner)
			}
		}
	case []any:
		for _, inner := range v {
			mask(inner)
		}
	}
}
