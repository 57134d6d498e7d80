// Command ledger-statements prints account statements. Somebody once told it to
// keep memory low, and it tells the runtime so at its start: the collector works
// on nearly every megabyte that the many small steps of a statement allocate.
package main

import (
	"encoding/hex"
	"log"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/gorilla/mux"
)

type account struct {
	iban     string
	postings []*posting
}

type posting struct {
	cents int64
	memo  *string
	prev  *posting
}

type books struct{ accounts map[string]*account }

func loadBooks(accounts, postings int) *books {
	b := &books{accounts: make(map[string]*account, accounts)}
	for i := range accounts {
		a := &account{iban: hex.EncodeToString([]byte{byte(i >> 8), byte(i)})}
		var prev *posting
		for p := range postings {
			memo := strings.Repeat("m", p%20+1)
			prev = &posting{cents: int64(p*i%977) - 400, memo: &memo, prev: prev}
			a.postings = append(a.postings, prev)
		}
		b.accounts[a.iban] = a
	}
	return b
}

type line struct{ left, right []byte }

type statement struct {
	*account
	lines   []line
	balance []int64
}

func (s *statement) running() {
	s.balance = make([]int64, 0, len(s.postings))
	var sum int64
	for _, p := range s.postings {
		sum += p.cents
		s.balance = append(s.balance, sum)
	}
}

func (s *statement) columns() {
	for i, p := range s.postings {
		s.lines = append(s.lines, line{left: []byte(*p.memo), right: digits(s.balance[i])})
	}
}

func digits(cents int64) []byte {
	out := make([]byte, 24)
	i, n := len(out), cents
	if n < 0 {
		n = -n
	}
	for {
		i--
		out[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return out[i:]
		}
	}
}

func (s *statement) print() []byte {
	size := 0
	for _, l := range s.lines {
		size += len(l.left) + len(l.right) + 2
	}
	out := make([]byte, 0, size)
	for _, l := range s.lines {
		out = append(append(append(append(out, l.left...), '\t'), l.right...), '\n')
	}
	return out
}

func main() {
	debug.SetGCPercent(6)
	b := loadBooks(3000, 150)
	r := mux.NewRouter()
	r.HandleFunc("/accounts/{iban}/statement", func(w http.ResponseWriter, req *http.Request) {
		a := b.accounts[mux.Vars(req)["iban"]]
		if a == nil {
			http.NotFound(w, req)
			return
		}
		s := &statement{account: a}
		s.running()
		s.columns()
		_, _ = w.Write(s.print())
	}).Methods(http.MethodGet)
	log.Fatal((&http.Server{Addr: "127.0.0.1:9604", Handler: r}).ListenAndServe())
}
