package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
)

// failures tells how requests failed, the kinds and statuses that the load
// counted: " (connect: 12, status 404: 512)".
func failures(l record.LoadSummary) string {
	counts := map[string]int64{}
	for kind, n := range l.ErrorKinds {
		if kind != "status" { // they are told by number
			counts[kind] = n
		}
	}
	for status, n := range l.Status {
		if !strings.HasPrefix(status, "2") {
			counts["status "+status] = n
		}
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			told = append(told, fmt.Sprintf("%s: %d", name, counts[name]))
		}
	}
	if len(told) == 0 {
		return ""
	}
	return " (" + strings.Join(told, ", ") + ")"
}
