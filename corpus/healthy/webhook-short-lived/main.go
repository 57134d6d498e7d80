// Command webhook-short-lived takes payment webhooks, a connection each, as the
// callers of webhooks do. There are not many, and a connection is cheap.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"
)

type hooks struct {
	key   []byte
	taken atomic.Int64
}

func (h *hooks) take(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	sum := hmac.New(sha256.New, h.key)
	_, _ = sum.Write(body)
	_, _ = io.WriteString(sum, p.ByName("shop"))
	h.taken.Add(1)
	_, _ = io.WriteString(w, hex.EncodeToString(sum.Sum(nil)))
}

func main() {
	h := &hooks{key: []byte("4c1d7a")}
	r := httprouter.New()
	r.POST("/hooks/:shop", h.take)
	server := &http.Server{Addr: "127.0.0.1:9322", Handler: r, ReadHeaderTimeout: 5 * time.Second}
	server.SetKeepAlivesEnabled(false)
	log.Fatal(server.ListenAndServe())
}
