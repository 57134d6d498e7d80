package cli

import (
	"testing"

	"github.com/redline-go/redline/history"
)

// TestNoHistory: a command without a history closes none.
func TestNoHistory(t *testing.T) {
	t.Setenv(history.Variable, "")
	store, err := OpenHistory(t.Context(), "")
	if store != nil || err != nil {
		t.Fatalf("%v, %v", store, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
