package failure

import (
	"errors"
	"fmt"
	"testing"
)

func TestMessages(t *testing.T) {
	var m Messages
	once := &Error{Kind: Status, Err: errors.New("status 503")}
	first := m.Number(once)
	if m.Number(once) != first || m.Number(&Error{Kind: Status, Err: errors.New("status 503")}) != first {
		t.Error("the same words have two numbers")
	}
	if other := m.Number(&Error{Kind: Timeout, Err: errors.New("status 503")}); other == first {
		t.Error("two kinds share a number")
	}
	short := m.Number(&Error{Kind: ShortBody, Err: errors.New("closed 17 bytes before the end")})
	if m.Number(&Error{Kind: ShortBody, Err: errors.New("closed 4096 bytes before the end")}) != short {
		t.Error("a size makes another message")
	}
	if got := m.Of(m.Number(errors.New("password=hunter2 is wrong"))); got.Kind != Other || got.Text != "password=[redacted] is wrong" {
		t.Errorf("message %+v shows a secret", got)
	}
	if got := m.Of(first); got != (Message{Status, "status 503"}) {
		t.Errorf("message %+v", got)
	}
}

// TestMessagesAreBounded: a target that fails with ever new messages takes up no more memory, and earlier messages keep
// their numbers.
func TestMessagesAreBounded(t *testing.T) {
	var m Messages
	first := m.Number(errors.New("before"))
	for i := range 10 * mostKnown {
		m.Number(&Error{Kind: BadResponse, Err: fmt.Errorf("line %d is no header", i)})
	}
	if len(m.all) != mostMessages || len(m.known) > mostKnown {
		t.Errorf("%d messages, %d errors kept", len(m.all), len(m.known))
	}
	if n := m.Number(errors.New("after")); n != 0 || m.Of(n) != (Message{}) {
		t.Errorf("beyond the bound: number %d", n)
	}
	if m.Number(errors.New("before")) != first {
		t.Error("an early message lost its number")
	}
}
