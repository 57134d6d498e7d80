// Command post-relay stands before the post office and lets known branches through.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"
)

// buffers are what bodies are copied through.
type buffers struct{ pool sync.Pool }

func newBuffers(size int) *buffers {
	return &buffers{pool: sync.Pool{New: func() any { b := make([]byte, size); return &b }}}
}

func (b *buffers) Get() []byte { return *b.pool.Get().(*[]byte) }

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }

// branches may send mail.
type branches struct {
	mu    sync.RWMutex
	known map[string]string // token to branch
}

func (b *branches) of(token string) (string, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	branch, ok := b.known[token]
	return branch, ok
}

type branchKey struct{}

func (b *branches) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		branch, ok := b.of(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if !ok {
			http.Error(w, "unknown branch", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), branchKey{}, branch)))
	})
}

func relay(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		BufferPool: newBuffers(16 << 10),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.SetXForwarded()
			p.Out.Header.Del("Authorization")
			if branch, ok := p.In.Context().Value(branchKey{}).(string); ok {
				p.Out.Header.Set("X-Branch", branch)
			}
		},
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: time.Second}).DialContext,
			MaxIdleConns:          256,
			MaxIdleConnsPerHost:   256,
			IdleConnTimeout:       time.Minute,
			ResponseHeaderTimeout: 2 * time.Second,
			DisableCompression:    true,
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
}

func main() {
	to, err := url.Parse(os.Getenv("BACKEND_URL"))
	if err != nil {
		log.Fatal(err)
	}
	b := &branches{known: map[string]string{"t-north": "north", "t-south": "south", "t-harbour": "harbour"}}
	mux := http.NewServeMux()
	mux.Handle("/mail/", b.only(relay(to)))
	mux.HandleFunc("GET /-/ready", func(http.ResponseWriter, *http.Request) {})
	srv := &http.Server{Addr: "127.0.0.1:9221", Handler: mux, ReadHeaderTimeout: 2 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
