// Command tracking-relay answers where parcels are, as the carrier knows it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/tracking-relay/pool"
)

type carrier struct {
	base   string
	client *http.Client
}

type state struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

func (c *carrier) track(ctx context.Context, parcel string) (s state, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/parcels/"+parcel, nil)
	if err != nil {
		return s, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return s, err
	}
	if resp.StatusCode != http.StatusOK {
		return s, fmt.Errorf("carrier: %s", resp.Status)
	}
	return s, json.Unmarshal(body, &s)
}

type relay struct {
	carrier *carrier
	pool    *pool.Pool
}

func (r *relay) parcel(w http.ResponseWriter, req *http.Request, p httprouter.Params) {
	var s state
	err := r.pool.Do(func() (err error) {
		ctx, cancel := context.WithTimeout(req.Context(), 2*time.Second)
		defer cancel()
		s, err = r.carrier.track(ctx, p.ByName("id"))
		return err
	})
	if err != nil {
		slog.Warn("track", "parcel", p.ByName("id"), "err", err)
		http.Error(w, "carrier does not answer", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"parcel": p.ByName("id"), "state": s.State})
}

func workers() int {
	if os.Getenv("FIXED") == "1" {
		return 96
	}
	n, err := strconv.Atoi(cmp.Or(os.Getenv("RELAY_WORKERS"), "6"))
	if err != nil || n < 1 {
		return 6
	}
	return n
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 128
	r := &relay{
		carrier: &carrier{base: os.Getenv("BACKEND_URL"), client: &http.Client{Transport: transport}},
		pool:    pool.New(workers()),
	}
	router := httprouter.New()
	router.GET("/v1/parcels/:id", r.parcel)
	router.GET("/alive", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.WriteHeader(http.StatusOK) })
	server := &http.Server{Addr: "127.0.0.1:9809", Handler: router}
	go func() {
		<-ctx.Done()
		_ = server.Close()
		r.pool.Close()
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		slog.Error("serve", "err", err)
		os.Exit(1)
	}
}
