package record_test

import (
	"testing"

	"github.com/redline-go/redline/record"
)

func TestChainReadsAsASentence(t *testing.T) {
	c := record.Chain{Links: []record.Link{
		{Goroutine: "main.worker", State: record.StateLock, Site: "main.(*cache).Get cache.go:9"},
		{Goroutine: "net/http.(*conn).serve", Request: true, State: record.StateNetwork, Site: "pgx.(*Conn).Query < main.list list.go:112"},
		{State: record.StateRunning},
	}}
	const want = "main.worker (lock at main.(*cache).Get cache.go:9)" +
		" <- another request's net/http.(*conn).serve (network at pgx.(*Conn).Query < main.list list.go:112)" +
		" <- a goroutine (running)"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
