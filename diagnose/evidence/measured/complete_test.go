package measured

import (
	"slices"
	"testing"

	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

// TestWhole: a cut stack gets the outer frames of whoever asks for its operation, as far as all who do have them in common.
func TestWhole(t *testing.T) {
	at := func(names ...string) (stack []code.Frame) {
		for _, name := range names {
			stack = append(stack, code.Frame{Function: name, Line: 1})
		}
		return stack
	}
	by := func(calls int64, names ...string) operation.Caller {
		return operation.Caller{Sampled: calls, Stack: at(names...)}
	}
	cut := at("select", "roundTrip", "sdk.retry", "sdk.sign")
	put := by(9, "roundTrip", "sdk.retry", "sdk.Put", "shop.save", "shop.serve", "runtime.goexit")
	get := by(3, "roundTrip", "sdk.retry", "sdk.Get", "shop.load", "shop.serve", "runtime.goexit")
	signed := by(1, "roundTrip", "sdk.retry", "sdk.sign", "sdk.Head", "shop.check", "shop.serve")
	for _, c := range []struct {
		name    string
		callers []operation.Caller
		want    []string
	}{
		{"its caller's", []operation.Caller{put}, []string{"sdk.Put", "shop.save", "shop.serve"}},
		{"what callers have in common", []operation.Caller{put, get}, []string{"shop.serve"}},
		{"a caller with its last frame", []operation.Caller{put, signed}, []string{"sdk.Head", "shop.check", "shop.serve"}},
		{"a whole one's none", []operation.Caller{by(9, "roundTrip", "sdk.retry", "sdk.sign")}, nil},
		{"none of nobody's", nil, nil},
	} {
		want := slices.Concat(cut, at(c.want...))
		if got := whole(cut, c.callers); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
