// Command receipt-pause-sync stores receipts for the tax office. Each waits 6 ms,
// a fixed pause that an old printer needed, and then for syncs to the disk.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"
)

type till struct {
	dir   string
	pause time.Duration
}

// lines writes a receipt line by line, each of them safe before the next.
func (t *till) lines(f *os.File, text []byte) error {
	for n := range 12 {
		line := append(strconv.AppendInt(nil, int64(n), 10), text...)
		if _, err := f.Write(line); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func (t *till) settle() { time.Sleep(t.pause) }

func (t *till) store(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.settle()
	f, err := os.OpenFile(filepath.Join(t.dir, filepath.Base(p.ByName("till"))), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		defer f.Close()
		err = t.lines(f, text)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

func main() {
	dir, err := os.MkdirTemp("", "receipts")
	if err != nil {
		log.Fatal(err)
	}
	t := &till{dir, 6 * time.Millisecond}
	r := httprouter.New()
	r.POST("/receipts/:till", t.store)
	log.Fatal(http.ListenAndServe("127.0.0.1:9324", r))
}
