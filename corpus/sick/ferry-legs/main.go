// Command ferry-legs answers whether a crossing of six legs can be booked. It asks for each leg on a goroutine
// of its own, and a channel bounds how many run at a time.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// legs of a crossing.
const legs = 6

type office struct {
	client *http.Client
	url    string
	atOnce int // calls; 1 is from the days when the office allowed no more
}

// free reports whether the office still has places on a leg.
func (o office) free(ctx context.Context, crossing string, leg int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/crossings/%s/legs/%d", o.url, crossing, leg), nil)
	if err != nil {
		return err
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// book asks for all legs.
func (o office) book(ctx context.Context, crossing string) error {
	running, answers := make(chan struct{}, o.atOnce), make(chan error, legs)
	for leg := range legs {
		select {
		case running <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		go func() {
			defer func() { <-running }()
			answers <- o.free(ctx, crossing, leg)
		}()
	}
	for range legs {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}

func main() {
	o := office{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}, Timeout: 5 * time.Second}, os.Getenv("BACKEND_URL"), 1}
	if os.Getenv("FIXED") == "1" {
		o.atOnce = legs
	}
	http.HandleFunc("GET /crossings/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := o.book(r.Context(), r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		io.WriteString(w, "all legs are free\n")
	})
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9790", nil))
}
