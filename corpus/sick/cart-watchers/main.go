// Command cart-watchers keeps carts. Each look at a cart starts a watcher that
// tells when the cart expires, and nothing ever stops one.
package main

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

type cart struct {
	items   int
	touched time.Time
}

type watcher struct {
	stop    chan struct{}
	expired *atomic.Int64
}

func (w *watcher) watch(c cart) {
	check := time.NewTicker(20 * time.Second)
	defer check.Stop()
	for {
		select {
		case now := <-check.C:
			if now.Sub(c.touched) > time.Hour {
				w.expired.Add(1)
				return
			}
		case <-w.stop:
			return
		}
	}
}

type carts struct{ expired atomic.Int64 }

func (s *carts) open(items int) cart {
	c := cart{items, time.Now()}
	w := &watcher{stop: make(chan struct{}), expired: &s.expired}
	go w.watch(c)
	return c
}

func main() {
	s := &carts{}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/carts/:id", func(c echo.Context) error {
		return c.JSON(http.StatusOK, map[string]int{"items": s.open(len(c.Param("id"))).items})
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9422"))
}
