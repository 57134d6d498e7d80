// Command journal-sync books wallet transfers. Each is written to the journal
// and synced to the disk before it is acknowledged, one after another.
package main

import (
	"encoding/binary"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type transfer struct {
	From   int64 `json:"from"`
	To     int64 `json:"to"`
	Amount int64 `json:"amount"`
}

// journal is append-only, with a file that marks how far it is valid.
type journal struct {
	mu     sync.Mutex
	data   *os.File
	mark   *os.File
	length int64
}

func openJournal(dir string) (*journal, error) {
	data, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		return nil, err
	}
	mark, err := os.Create(filepath.Join(dir, "mark"))
	return &journal{data: data, mark: mark}, err
}

func (j *journal) append(t transfer) error {
	var entry [32]byte
	binary.LittleEndian.PutUint64(entry[0:], uint64(t.From))
	binary.LittleEndian.PutUint64(entry[8:], uint64(t.To))
	binary.LittleEndian.PutUint64(entry[16:], uint64(t.Amount))
	binary.LittleEndian.PutUint64(entry[24:], uint64(time.Now().UnixNano()))
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.data.WriteAt(entry[:], j.length)
	if err != nil {
		return err
	}
	if err := j.data.Sync(); err != nil {
		return err
	}
	j.length += int64(n)
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(j.length))
	if _, err := j.mark.WriteAt(length[:], 0); err != nil {
		return err
	}
	return j.mark.Sync()
}

func main() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	j, err := openJournal(dir)
	if err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/live", func(http.ResponseWriter, *http.Request) {})
	r.Post("/transfers", func(w http.ResponseWriter, r *http.Request) {
		var t transfer
		if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := j.append(t); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9312", r))
}
