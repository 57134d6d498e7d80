// Command basket-prices sums up a basket. It asks the price service for one item
// after the other.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type basket []string

type pricing interface {
	cents(item string) (int, error)
}

type remote struct {
	url    string
	client http.Client
}

func (r *remote) cents(item string) (int, error) {
	res, err := r.client.Get(r.url + "/price?item=" + item)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	return int(n), err
}

func total(p pricing, b basket) (sum int, err error) {
	for _, item := range b {
		c, err := p.cents(item)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", item, err)
		}
		sum += c
	}
	return sum, nil
}

// together asks for all items at once.
func together(p pricing, b basket) (sum int, err error) {
	var asking sync.WaitGroup
	cents, errs := make([]int, len(b)), make([]error, len(b))
	for i, item := range b {
		asking.Go(func() { cents[i], errs[i] = p.cents(item) })
	}
	asking.Wait()
	for _, c := range cents {
		sum += c
	}
	return sum, errors.Join(errs...)
}

func main() {
	sum := total
	if os.Getenv("FIXED") != "" {
		sum = together
	}
	r := &remote{url: os.Getenv("BACKEND_URL")}
	r.client.Timeout = time.Second
	r.client.Transport = &http.Transport{MaxIdleConnsPerHost: 50}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /total", func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(req.Body, 4096))
		cents, err := sum(r, strings.Split(string(body), ","))
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, cents)
	})
	mux.HandleFunc("GET /live", func(http.ResponseWriter, *http.Request) {})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:9624", mux))
}
