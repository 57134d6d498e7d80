// Package risk is the dependency that scores how suspicious an access is: a
// service of its own process that does real work per request, and the client
// that asks it over HTTP.
package risk

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strconv"
)

// Rounds is the work per score: the device fingerprint is stretched by
// iterated hashing, so that a leaked table of fingerprints is hard to reverse.
// It is some milliseconds of one CPU.
const Rounds = 20_000

// MaxScore is above every score.
const MaxScore = 1000

// Score is the risk of a user, from 0 to MaxScore-1.
func Score(user int64, rounds int) int {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(user)))
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	return int(binary.BigEndian.Uint32(sum[:4]) % MaxScore)
}

// answer is the body of a score.
type answer struct {
	Score int `json:"score"`
}

// Handler serves GET /score?uid=.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /score", func(w http.ResponseWriter, r *http.Request) {
		user, err := strconv.ParseInt(r.URL.Query().Get("uid"), 10, 64)
		if err != nil || user < 1 {
			http.Error(w, "uid is not a user's number", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// A reader that went away needs no answer.
		_ = json.NewEncoder(w).Encode(answer{Score(user, Rounds)})
	})
	return mux
}
