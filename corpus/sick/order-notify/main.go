// Command order-notify notifies a carrier of new orders. The carrier refuses most calls
// at the moment, and each order is tried up to seven times, almost without a pause.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

const attempts = 7

var errRefused = errors.New("carrier refused")

type carrier struct {
	url  string
	http *http.Client
}

func (c *carrier) announce(order string) error {
	var err error
	for n := range attempts {
		if err = c.once(order); err == nil {
			return nil
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
	return fmt.Errorf("after %d attempts: %w", attempts, err)
}

func (c *carrier) once(order string) error {
	res, err := c.http.Post(c.url+"/announce", "text/plain", strings.NewReader(order))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode >= 500 {
		return errRefused
	}
	return nil
}

func main() {
	c := &carrier{os.Getenv("BACKEND_URL"), &http.Client{Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 80}}}
	r := chi.NewRouter()
	r.Use(middleware.RequestID)
	r.Put("/orders/{id}", func(w http.ResponseWriter, req *http.Request) {
		if err := c.announce(chi.URLParam(req, "id")); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	r.Get("/", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9632", r))
}
