// Command label-printing turns shipments into labels. The layout engine is another
// service with room for many; here, though, only three layouts may be under way at a
// time, a number from when the engine ran on one machine.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/semaphore"
)

const layoutsAtOnce = 3

type shipment struct {
	number  string
	service string
	parcels int
}

func (s shipment) zpl() string {
	var b strings.Builder
	for p := 1; p <= s.parcels; p++ {
		fmt.Fprintf(&b, "^XA^FO50,50^FD%s %s %d/%d^FS^XZ\n", s.service, s.number, p, s.parcels)
	}
	return b.String()
}

type press struct {
	engine *fasthttp.Client
	url    string
	slots  *semaphore.Weighted
}

func newPress(url string) *press {
	return &press{
		engine: &fasthttp.Client{MaxConnsPerHost: 256, ReadTimeout: 2 * time.Second},
		url:    url,
		slots:  semaphore.NewWeighted(layoutsAtOnce),
	}
}

func (p *press) layout(ctx context.Context, s shipment) ([]byte, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer p.slots.Release(1)
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(p.url + "/layout")
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetBodyString(s.zpl())
	if err := p.engine.Do(req, resp); err != nil {
		return nil, fmt.Errorf("layout of %s: %w", s.number, err)
	}
	return append([]byte(nil), resp.Body()...), nil
}

func main() {
	p := newPress(os.Getenv("BACKEND_URL"))
	srv := &fasthttp.Server{Name: "labels", Handler: func(c *fasthttp.RequestCtx) {
		switch path := string(c.Path()); {
		case path == "/health":
			c.SetStatusCode(fasthttp.StatusNoContent)
		case strings.HasPrefix(path, "/labels/"):
			doc, err := p.layout(context.Background(), shipment{strings.TrimPrefix(path, "/labels/"), "EXPRESS", 2})
			if err != nil {
				c.Error(err.Error(), fasthttp.StatusBadGateway)
				return
			}
			c.SetContentType("application/octet-stream")
			c.SetBody(doc)
		default:
			c.NotFound()
		}
	}}
	log.Fatal(srv.ListenAndServe("127.0.0.1:9853"))
}
