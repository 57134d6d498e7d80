package spans

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect" // errors in gRPC's form

	"github.com/redline-go/redline/access"
)

// Bounds on input from the network.
const (
	maxBody        = 8 << 20 // bytes of an export, packed and unpacked
	maxConnections = 256
	maxBodies      = 4 // in memory at once; others wait
	readTimeout    = 15 * time.Second
	// exportsPerSecond is more than a few hundred services send in batches.
	exportsPerSecond = 2000
)

// server are the HTTP servers, one for each listener.
type server struct {
	http []*http.Server
	done sync.WaitGroup
	once sync.Once
}

// serve listens on all addresses with one bound on bodies in memory. Timeouts are short:
// exporters try again, and a slow peer must not hold a slot.
func serve(listeners []*access.Listener, s *store) *server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // gRPC
	srv := &server{}
	slots := make(chan struct{}, maxBodies)
	for _, l := range listeners {
		r := &receiver{store: s, access: l, slots: slots, errors: connect.NewErrorWriter()}
		each := &http.Server{
			Handler: r.handler(), ConnContext: access.ConnContext, Protocols: &protocols,
			ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout, IdleTimeout: 2 * time.Minute,
			MaxHeaderBytes: 64 << 10, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 16},
			ErrorLog: log.New(io.Discard, "", 0), // the source's health reports peers' errors
		}
		srv.http = append(srv.http, each)
		srv.done.Go(func() { _ = each.Serve(l) })
	}
	return srv
}

// close ends every connection.
func (s *server) close() {
	s.once.Do(func() {
		// Requests in progress get a moment: an exporter that was cut off
		// would complain in the target's log.
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		var ending sync.WaitGroup
		for _, each := range s.http {
			ending.Go(func() {
				if each.Shutdown(ctx) != nil {
					each.Close()
				}
			})
		}
		ending.Wait()
		s.done.Wait()
	})
}

// receiver answers exports.
type receiver struct {
	store  *store
	access *access.Listener
	slots  chan struct{} // of all receivers, taken while a body is in memory
	errors *connect.ErrorWriter
}

// handler admits before it reads: a body from a client that may not connect costs nothing.
func (r *receiver) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", r.export)
	path, rpc := r.rpc()
	mux.Handle(path, rpc)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if refusal := r.access.Admit(q); refusal != nil {
			r.turnAway(w, q, refusal)
			return
		}
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-q.Context().Done():
			return
		}
		q.Body = http.MaxBytesReader(w, q.Body, maxBody)
		mux.ServeHTTP(w, q)
	})
}

// turnAway answers a client that is not admitted, in the form of its protocol, and counts it.
func (r *receiver) turnAway(w http.ResponseWriter, q *http.Request, refusal *access.Refusal) {
	if refusal.Status == http.StatusTooManyRequests {
		r.store.limit()
	} else {
		r.store.refuse(refusal)
	}
	if !strings.HasPrefix(q.Header.Get("Content-Type"), "application/grpc") {
		refusal.Write(w)
		return
	}
	code := connect.CodePermissionDenied
	switch refusal.Status {
	case http.StatusUnauthorized:
		code = connect.CodeUnauthenticated
	case http.StatusTooManyRequests:
		code = connect.CodeResourceExhausted
	}
	_ = r.errors.Write(w, q, connect.NewError(code, refusal)) // fails if the exporter went away
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

// refuse answers with an error and counts it. The answer is plain text, because
// exporters print it.
func (r *receiver) refuse(w http.ResponseWriter, status int, err error) {
	r.store.refuse(err)
	http.Error(w, err.Error(), status)
}

// unpacked reads a whole body, within the bound. The status belongs to the error.
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
	// One byte beyond the bound: a body that gzip unpacks to more must not pass cut short.
	var all bytes.Buffer
	_, err = all.ReadFrom(io.LimitReader(in, maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || all.Len() > maxBody:
		return nil, http.StatusRequestEntityTooLarge,
			fmt.Errorf("an export is over %d bytes; let the exporter send smaller batches", maxBody)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("read the export: %w", err)
	}
	return all.Bytes(), 0, nil
}
