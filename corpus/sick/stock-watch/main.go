// Command stock-watch finds the warehouse that can send an article.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

var warehouses = []string{"north", "harbour"}

// Depots asks warehouses for what they have.
type Depots struct {
	base   string
	client *http.Client
	drain  bool
}

// NewDepots calls the warehouses at base. They are reached through the mesh, which
// vouches for their certificates.
func NewDepots(base string) *Depots {
	return &Depots{base: base, drain: os.Getenv("FIXED") != "", client: &http.Client{
		Timeout: 2 * time.Second,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
			MaxIdleConns:        200,
			MaxIdleConnsPerHost: 100,
			IdleConnTimeout:     90 * time.Second,
		},
	}}
}

// Has reports whether a warehouse has an article. Its status says so; the stock card
// in the body is for people.
func (d *Depots) Has(ctx context.Context, warehouse, sku string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+"/"+warehouse+"/cards/"+sku, nil)
	if err != nil {
		return false, err
	}
	res, err := d.client.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if d.drain {
		_, _ = io.Copy(io.Discard, res.Body)
	}
	return res.StatusCode == http.StatusOK, nil
}

// Nearest returns the first warehouse of the list that has an article, or "".
func (d *Depots) Nearest(ctx context.Context, sku string) (string, error) {
	has := make([]bool, len(warehouses))
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range warehouses {
		g.Go(func() (err error) {
			has[i], err = d.Has(ctx, w, sku)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return "", err
	}
	for i, w := range warehouses {
		if has[i] {
			return w, nil
		}
	}
	return "", nil
}

func main() {
	d := NewDepots(os.Getenv("BACKEND_URL"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /alive", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /articles/{sku}/source", func(w http.ResponseWriter, r *http.Request) {
		from, err := d.Nearest(r.Context(), r.PathValue("sku"))
		if err != nil {
			log.Print(err)
			http.Error(w, "warehouse", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"sku": r.PathValue("sku"), "from": from})
	})
	srv := &http.Server{Addr: "127.0.0.1:9210", Handler: mux, IdleTimeout: time.Minute}
	log.Fatal(srv.ListenAndServe())
}
