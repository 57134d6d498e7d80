// Command payout-replies makes payouts idempotent: the answer to each
// key is kept, so that whoever asks again gets the same one. Answers
// are never dropped, though nobody asks again after a minute.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
)

type reply struct {
	status  int
	header  http.Header
	body    []byte
	receipt [14 << 10]byte // the scanned receipt's first page
	at      time.Time
}

type shard struct {
	sync.Mutex
	byKey map[[32]byte]*reply
}

// ledger keeps replies, in shards by their key.
type ledger [16]shard

func (l *ledger) of(key [32]byte) *shard { return &l[key[0]&15] }

func (l *ledger) keep(key [32]byte, r *reply) {
	s := l.of(key)
	s.Lock()
	defer s.Unlock()
	if s.byKey == nil {
		s.byKey = make(map[[32]byte]*reply)
	}
	s.byKey[key] = r
}

func (l *ledger) known(key [32]byte) *reply {
	s := l.of(key)
	s.Lock()
	defer s.Unlock()
	return s.byKey[key]
}

func pay(key [32]byte) *reply {
	r := &reply{status: http.StatusCreated, header: http.Header{}, at: time.Now()}
	r.header.Set("Content-Type", "application/json")
	r.body, _ = json.Marshal(map[string]string{"payout": uuid.NewString(), "key": hex.EncodeToString(key[:8])})
	copy(r.receipt[:], r.body)
	return r
}

// once answers a request whose key was seen before with the same reply.
func once(l *ledger, do func([32]byte) *reply) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		given := req.Header.Get("Idempotency-Key")
		if given == "" {
			http.Error(w, "no key", http.StatusBadRequest)
			return
		}
		key := sha256.Sum256([]byte(given))
		r := l.known(key)
		if r == nil {
			r = do(key)
			l.keep(key, r)
		}
		for name, values := range r.header {
			w.Header()[name] = values
		}
		w.WriteHeader(r.status)
		_, _ = w.Write(r.body)
	}
}

func main() {
	r := chi.NewRouter()
	r.Post("/payouts", once(new(ledger), pay))
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9869", r))
}
