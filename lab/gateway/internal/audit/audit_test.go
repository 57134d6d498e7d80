package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTrailIsCompleteAndChained(t *testing.T) {
	for _, batched := range []bool{false, true} {
		dir := t.TempDir()
		trail, err := Open(dir, batched, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		const writers, each = 4, 50
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for range each {
					trail.Record(Record{Time: time.Unix(0, 0), RequestID: "r", Action: "GET /order",
						UserID: int64(w), Status: 200, Risk: -1})
				}
			})
		}
		wg.Wait()
		if err := trail.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "audit.log"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if len(lines) != writers*each {
			t.Errorf("batched %v: %d lines, want %d", batched, len(lines), writers*each)
		}
		var before [sha256.Size]byte
		for i, line := range lines {
			if !strings.HasSuffix(line, " before="+hex.EncodeToString(before[:])) {
				t.Fatalf("batched %v: line %d breaks the chain: %s", batched, i, line)
			}
			before = sha256.Sum256([]byte(line))
		}
	}
}

// lines passes on what is logged.
type lines chan string

func (w lines) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// TestFailureIsSaidAtOnce: an operator hears of a trail that cannot be written while the service goes on, once.
func TestFailureIsSaidAtOnce(t *testing.T) {
	for _, batched := range []bool{false, true} {
		said := make(lines, 10)
		trail, err := Open(t.TempDir(), batched, slog.New(slog.NewTextHandler(said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := trail.file.Close(); err != nil {
			t.Fatal(err)
		}
		trail.Record(Record{})
		if line := <-said; !strings.Contains(line, "write the audit trail") {
			t.Errorf("batched %v: %s", batched, line)
		}
		trail.Record(Record{})
		if err := trail.Close(); err == nil {
			t.Errorf("batched %v: closed without an error", batched)
		}
		if len(said) > 0 {
			t.Errorf("batched %v: said again: %s", batched, <-said)
		}
	}
}
