package protocol

import (
	"encoding/json"
	"strings"

	"github.com/redline-go/redline/scenario/feeder"
)

// ValidMessage reports whether a text is an object, or a list of objects, once
// its placeholders are filled.
func ValidMessage(text string) bool {
	filled := []byte(strings.TrimSpace(feeder.Placeholder.ReplaceAllString(text, "0")))
	if !json.Valid(filled) || len(filled) == 0 {
		return false
	}
	if filled[0] != '[' {
		return filled[0] == '{'
	}
	var list []map[string]json.RawMessage
	return json.Unmarshal(filled, &list) == nil && len(list) > 0
}
