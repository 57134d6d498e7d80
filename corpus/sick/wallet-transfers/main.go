// Command wallet-transfers moves amounts between wallets. One mutex guards all
// wallets, and the chain of receipts is extended while it is held, so that
// transfers between unrelated wallets wait for each other.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"sync"
)

type wallet struct {
	balance int64
	receipt uint64
}

type book struct {
	mu      sync.Mutex
	wallets []wallet
}

func newBook(n int) *book {
	b := &book{wallets: make([]wallet, n)}
	for i := range b.wallets {
		b.wallets[i].balance = 1_000_000
	}
	return b
}

// chain derives the next receipt from the one before it.
func chain(last uint64, amount int64) uint64 {
	for round := range 220_000 {
		last ^= uint64(amount) + uint64(round)
		last *= 0x100000001b3
		last ^= last >> 29
	}
	return last
}

func (b *book) credit(from, to int, amount int64) (uint64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	payer, payee := &b.wallets[from%len(b.wallets)], &b.wallets[to%len(b.wallets)]
	if payer.balance < amount {
		payer.balance += 1_000_000
		return 0, false
	}
	payer.balance -= amount
	payee.balance += amount
	payee.receipt = chain(payer.receipt, amount)
	return payee.receipt, true
}

func main() {
	b := newBook(4096)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /transfers/{from}/{to}", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.PathValue("from"))
		to, _ := strconv.Atoi(r.PathValue("to"))
		receipt, ok := b.credit(from, to, 25)
		if !ok {
			w.WriteHeader(http.StatusConflict)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"receipt": strconv.FormatUint(receipt, 36)})
	})
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9401", mux))
}
