package tally_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/observe/goruntime/tally"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/timebase"
)

func parsed(t *testing.T, text string) *tally.Tally {
	t.Helper()
	all, err := tally.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Connections are counted for the caller that they were opened for, between the two readings.
func TestOpenedByCaller(t *testing.T) {
	const stacks = "stack 1\nframe 9 \"shop.open\" \"shop.go\"\nstack 2\nframe 20 \"shop.list\" \"shop.go\"\n"
	before := parsed(t, "op 1 4 2 0 20 10 0 2 0 0 \"\"\nat 1 1 2 0 20 10 0 2 0 0\n"+stacks)
	after := parsed(t, "op 1 4 12 0 120 10 0 5 0 0 \"\"\nat 1 1 5 0 50 10 0 5 0 0\nat 1 2 7 0 70 10 0 0 0 0\n"+stacks)
	ops := after.Since(before, timebase.Span{}).Operations
	if len(ops) != 1 || ops[0].Kind != operation.Acquire || ops[0].Opened != 3 {
		t.Fatalf("%+v", ops)
	}
	opened := map[string]int64{}
	for _, c := range ops[0].Callers {
		opened[c.Stack[0].Function] = c.Opened
	}
	if len(opened) != 2 || opened["shop.open"] != 3 || opened["shop.list"] != 0 {
		t.Errorf("opened for %v", opened)
	}
}

// Duplicates follow their operation, and count between the two readings.
func TestDuplicates(t *testing.T) {
	before := parsed(t, "op 1 9 4 0 40 10 0 0 0 0 \"GET shop/prices\"\nduplicates 1 3\n")
	after := parsed(t, "op 1 9 24 0 240 10 0 0 0 0 \"GET shop/prices\"\nduplicates 1 18\nduplicates 7 5\n")
	ops := after.Since(before, timebase.Span{}).Operations
	if len(ops) != 1 || ops[0].Calls != 20 || ops[0].Duplicates != 15 {
		t.Errorf("%+v", ops)
	}
	if _, err := tally.Parse(strings.NewReader("duplicates 1 many\n")); err == nil {
		t.Error("a count that is no number is accepted")
	}
}
