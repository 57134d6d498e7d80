package breakdown_test

import (
	"testing"

	"github.com/redline-go/redline/record/breakdown"
)

func TestChainReadsAsASentence(t *testing.T) {
	c := breakdown.Chain{Links: []breakdown.Link{
		{Goroutine: "main.worker", State: breakdown.StateLock, Site: "main.(*cache).Get cache.go:9"},
		{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateNetwork, Site: "pgx.(*Conn).Query < main.list list.go:112"},
		{State: breakdown.StateRunning},
	}}
	const want = "main.worker (lock at main.(*cache).Get cache.go:9)" +
		" <- another request's net/http.(*conn).serve (network at pgx.(*Conn).Query < main.list list.go:112)" +
		" <- a goroutine (running)"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
