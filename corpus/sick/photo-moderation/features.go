package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

type features interface {
	Of(ctx context.Context, photo string) ([]byte, error)
}

type httpFeatures struct {
	base   string
	client *http.Client
}

func remote(base string) features {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	return &httpFeatures{base: base, client: &http.Client{Transport: t, Timeout: 2 * time.Second}}
}

func (h *httpFeatures) Of(ctx context.Context, photo string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+"/features/"+url.PathEscape(photo), nil)
	if err != nil {
		return nil, err
	}
	res, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("features: %s", res.Status)
	}
	return body, err
}
