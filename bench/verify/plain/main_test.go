package main

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// TestAnswers: added work changes no answer.
func TestAnswers(t *testing.T) {
	ask := func(serve string, rounds int) string {
		w := httptest.NewRecorder()
		handler(serve, rounds).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w.Body.String()
	}
	for _, n := range []int{0, 1000} {
		if got := ask("hello", n); got != "hello\n" {
			t.Errorf("hello with %d rounds: %q", n, got)
		}
		var orders []order
		if err := json.Unmarshal([]byte(ask("json", n)), &orders); err != nil || len(orders) != 40 || orders[39].User != "user 39" {
			t.Errorf("json with %d rounds: %d orders, %v", n, len(orders), err)
		}
	}
	if n, err := rounds("12"); n != 12 || err != nil {
		t.Errorf("rounds of 12: %d, %v", n, err)
	}
	if _, err := rounds("many"); err == nil {
		t.Error("PLAIN_SPIN=many was taken")
	}
}
