package breakdown

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/code"
)

// TestShortSummaryIsBounded: the anatomy of a service with deep stacks everywhere stays within
// what summary.json may take, and the anatomy itself is left alone.
func TestShortSummaryIsBounded(t *testing.T) {
	var deep []code.Frame
	for i := range 48 {
		deep = append(
			deep,
			code.Frame{
				Function: fmt.Sprintf("example.org/%s.(*Store).F%d", strings.Repeat("x", 30), i),
				File:     strings.Repeat("/src", 12),
				Line:     i,
			},
		)
	}
	var s Summary
	for i := range 120 {
		p := Part{State: StateLock, Site: deep[0].Function, NS: int64(1000 - i), Stack: deep, Waker: deep}
		for range 16 {
			p.Behind = append(
				p.Behind,
				Chain{NS: 1, Links: []Link{{Goroutine: "main.f", Stack: deep}, {Goroutine: "main.g", Stack: deep}}},
			)
		}
		s.Median, s.Tail = append(s.Median, p), append(s.Tail, p)
	}
	short := s.Short()
	text, err := json.MarshalIndent(short, "", "  ")
	if err != nil || len(text) > shortBytes {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if len(short.Median) != shortBand || len(short.Tail) != shortBand || short.Median[0].NS != 1000 || short.Tail[39].NS != 961 {
		t.Errorf("%d and %d parts", len(short.Median), len(short.Tail))
	}
	if len(s.Median) != 120 || len(s.Median[0].Stack) != 48 || s.Median[0].Behind[0].Links[0].Stack == nil {
		t.Error("the anatomy itself was cut")
	}
}
