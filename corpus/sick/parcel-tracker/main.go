package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/rs/zerolog"
)

type Carrier struct {
	url    string
	client *http.Client
	drain  bool
}

type CarrierOption func(*Carrier)

func Draining(c *Carrier) { c.drain = true }

func NewCarrier(url string, opts ...CarrierOption) *Carrier {
	c := &Carrier{url: url, client: &http.Client{Transport: &http.Transport{
		MaxIdleConns: 128, MaxIdleConnsPerHost: 128,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the carrier's certificate is its own
	}}}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Known asks the carrier whether it has the parcel.
func (c *Carrier) Known(ctx context.Context, parcel string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/parcels/"+parcel, nil)
	if err != nil {
		return false, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return false, fmt.Errorf("carrier: %w", err)
	}
	defer resp.Body.Close()
	if c.drain {
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return false, err
		}
	}
	return resp.StatusCode == http.StatusOK, nil
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	var opts []CarrierOption
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, Draining)
	}
	carrier := NewCarrier(os.Getenv("BACKEND_URL"), opts...)
	mux := http.NewServeMux()
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "up") })
	mux.HandleFunc("/track/{parcel}", func(w http.ResponseWriter, r *http.Request) {
		known, err := carrier.Known(r.Context(), r.PathValue("parcel"))
		if err != nil {
			log.Error().Err(err).Msg("track")
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, `{"parcel":%q,"known":%t}`, r.PathValue("parcel"), known)
	})
	log.Fatal().Err(http.ListenAndServe("127.0.0.1:9827", mux)).Send()
}
