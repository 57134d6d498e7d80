// Command index-builder suggests words while it keeps rebuilding its index. The
// rebuilding never pauses and runs on four goroutines, so that suggestions share
// the CPUs with it all the time.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/go-chi/chi/v5"
)

type index struct{ words []string }

func (x *index) suggest(prefix string) []string {
	from := sort.SearchStrings(x.words, prefix)
	till := from
	for till < len(x.words) && till < from+8 && strings.HasPrefix(x.words[till], prefix) {
		till++
	}
	return x.words[from:till]
}

type builder struct {
	current atomic.Pointer[index]
	turns   atomic.Int64
}

func syllables(seed uint64, n int) string {
	const letters = "aeioubcdfglmnprst"
	out := make([]byte, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = letters[seed>>59%uint64(len(letters))]
	}
	return string(out)
}

func (b *builder) rebuild() {
	words := make([]string, 4000)
	for i := range words {
		words[i] = syllables(uint64(i), 4+i%5)
	}
	for range 8 {
		shuffled := append([]string(nil), words...)
		for i, j := 0, len(shuffled)-1; i < j; i, j = i+1, j-1 {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		}
		sort.Strings(shuffled)
		words = shuffled
	}
	b.current.Store(&index{words})
	b.turns.Add(1)
}

func main() {
	b := &builder{}
	b.rebuild()
	for range 4 {
		go func() {
			for {
				b.rebuild()
			}
		}()
	}
	r := chi.NewRouter()
	r.Get("/suggest/{prefix}", func(w http.ResponseWriter, req *http.Request) {
		_ = json.NewEncoder(w).Encode(b.current.Load().suggest(chi.URLParam(req, "prefix")))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9418", r))
}
