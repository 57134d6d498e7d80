// Command audit-flush notes who read what. Notes gather in a slice that a ticker
// swaps and writes away in the background, without ever holding up a request.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

type note struct {
	at   time.Time
	what string
}

type audit struct {
	mu    sync.Mutex
	notes []note
	spare []note
}

func (a *audit) note(what string) {
	a.mu.Lock()
	a.notes = append(a.notes, note{time.Now(), what})
	a.mu.Unlock()
}

func (a *audit) swap() []note {
	a.mu.Lock()
	defer a.mu.Unlock()
	full := a.notes
	a.notes, a.spare = a.spare[:0], full
	return full
}

func (a *audit) flush(to io.Writer, every time.Duration) {
	w := bufio.NewWriter(to)
	for range time.Tick(every) {
		for _, n := range a.swap() {
			_, _ = fmt.Fprintf(w, "%d %s\n", n.at.UnixMilli(), n.what)
		}
		_ = w.Flush()
	}
}

func main() {
	a := &audit{}
	go a.flush(io.Discard, 100*time.Millisecond)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/files/:name", func(c echo.Context) error {
		a.note(c.Param("name"))
		return c.String(http.StatusOK, "contents of "+c.Param("name"))
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9430"))
}
