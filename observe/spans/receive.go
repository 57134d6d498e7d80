package spans

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	// LimitListener: the Go team's own bound on connections.
	"golang.org/x/net/netutil"
)

// Bounds of what is taken from the network.
const (
	maxBody        = 8 << 20 // bytes of an export, packed and unpacked
	maxConnections = 256
	maxBodies      = 4 // in memory at once; others wait
	readTimeout    = 15 * time.Second
)

// server is the HTTP server of all listeners.
type server struct {
	http *http.Server
	done sync.WaitGroup
	once sync.Once
}

func serve(listeners []net.Listener, s *store, token string) *server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // gRPC
	r := &receiver{store: s, token: token, places: make(chan struct{}, maxBodies)}
	srv := &server{http: &http.Server{
		Handler: r.handler(), Protocols: &protocols,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 16},
		ErrorLog: log.New(io.Discard, "", 0), // what peers do wrong is told by the source's health
	}}
	for _, l := range listeners {
		srv.done.Go(func() { _ = srv.http.Serve(netutil.LimitListener(l, maxConnections)) })
	}
	return srv
}

// close ends every connection.
func (s *server) close() {
	s.once.Do(func() {
		// What is being answered gets a moment: an exporter that was cut off
		// would complain in the target's log.
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if s.http.Shutdown(ctx) != nil {
			s.http.Close()
		}
		s.done.Wait()
	})
}

// receiver answers exports.
type receiver struct {
	store  *store
	token  string
	places chan struct{} // taken while a body is in memory
}

func (r *receiver) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", r.export)
	path, rpc := r.rpc()
	mux.Handle(path, rpc)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !r.allowed(q) {
			r.refuse(w, http.StatusUnauthorized, errors.New("the export has no valid token (Authorization: Bearer ...)"))
			return
		}
		select {
		case r.places <- struct{}{}:
			defer func() { <-r.places }()
		case <-q.Context().Done():
			return
		}
		q.Body = http.MaxBytesReader(w, q.Body, maxBody)
		mux.ServeHTTP(w, q)
	})
}

// allowed checks the token, if there is one.
func (r *receiver) allowed(q *http.Request) bool {
	if r.token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(r.token)) == 1
}

// export takes an export over HTTP.
func (r *receiver) export(w http.ResponseWriter, q *http.Request) {
	// A page in a browser can post text to any address of this host, but not
	// these types.
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	decode := decodeProtobuf
	switch kind {
	case "application/x-protobuf":
	case "application/json":
		decode = decodeJSON
	default:
		r.refuse(w, http.StatusUnsupportedMediaType, fmt.Errorf("an export is application/x-protobuf or application/json, not %.40q", kind))
		return
	}
	body, status, err := unpacked(q)
	if err == nil {
		status, err = http.StatusBadRequest, r.store.take(body, decode)
	}
	if err != nil {
		r.refuse(w, status, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	if kind == "application/json" {
		_, _ = io.WriteString(w, "{}") // and of protobuf the empty message is empty
	}
}

// refuse answers with an error and counts it. The text goes back as a plain one:
// exporters print it.
func (r *receiver) refuse(w http.ResponseWriter, status int, err error) {
	r.store.refuse(err)
	http.Error(w, err.Error(), status)
}

// unpacked reads a body whole, within the bound. The status is of the error.
func unpacked(q *http.Request) (body []byte, status int, err error) {
	in := io.Reader(q.Body)
	switch encoding := q.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, http.StatusBadRequest, fmt.Errorf("unpack the export: %w", err)
		}
		defer z.Close()
		in = z
	default:
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("an export is packed with gzip or not at all, not with %.20q", encoding)
	}
	var all bytes.Buffer
	_, err = all.ReadFrom(io.LimitReader(in, maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || all.Len() > maxBody:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("an export is over %d bytes; let the exporter send smaller batches", maxBody)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("read the export: %w", err)
	}
	return all.Bytes(), 0, nil
}
