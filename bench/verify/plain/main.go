// Command plain is one of two services without a database, for sessions of known outcome: hello answers
// with a line, json with forty orders that it encodes for each request.
//
//	plain -addr 127.0.0.1:8080 -serve json
//
// PLAIN_SPIN adds rounds of arithmetic to every request, a slow-down of a known size.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen at")
	serve := flag.String("serve", "hello", "hello or json")
	flag.Parse()
	rounds, err := rounds(os.Getenv("PLAIN_SPIN"))
	if err == nil {
		err = http.ListenAndServe(*addr, handler(*serve, rounds))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func rounds(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("PLAIN_SPIN=%q is no number of rounds", text)
	}
	return n, nil
}

type order struct {
	ID      int       `json:"id"`
	User    string    `json:"user"`
	Total   float64   `json:"total"`
	Items   []string  `json:"items"`
	Created time.Time `json:"created"`
}

func handler(serve string, rounds int) http.Handler {
	var orders []order
	for i := range 40 {
		orders = append(orders, order{ID: i, User: fmt.Sprintf("user %d", i), Total: float64(i) * 1.5,
			Items: []string{"pen", "paper", "ink"}, Created: time.Unix(int64(i)*1e6, 0).UTC()})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if spin(rounds) == 0 { // never: its result must be used
			return
		}
		if serve != "json" {
			_, _ = io.WriteString(w, "hello\n") // the client has left
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(orders) // the client has left
	})
}

// spin takes the CPU for some nanoseconds per round. Each step waits for the one before it (xorshift,
// Marsaglia 2003, whose state is never zero), so none can be left out.
func spin(rounds int) uint64 {
	x := uint64(88172645463325252)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x = bits.RotateLeft64(x^x<<17, 1)
	}
	return x
}
