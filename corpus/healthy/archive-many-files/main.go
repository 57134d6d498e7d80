// Command archive-many-files keeps 900 volumes of an archive open for reading,
// which is what it is meant to do: it may have twenty times as many.
package main

import (
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gorilla/mux"
)

type volumes []*os.File

func openAll(dir string, n int) (volumes, error) {
	all := make(volumes, n)
	for i := range all {
		path := filepath.Join(dir, "volume-"+strconv.Itoa(i))
		if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		all[i] = f
	}
	return all, nil
}

func (v volumes) read(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(mux.Vars(r)["volume"])
	buf := make([]byte, 256)
	n, err := v[number%len(v)].ReadAt(buf, int64(number%31)*256)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(buf[:n])
}

func main() {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 18000, Max: 18000}); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		log.Fatal(err)
	}
	v, err := openAll(dir, 900)
	if err != nil {
		log.Fatal(err)
	}
	_ = os.RemoveAll(dir) // open files outlive their names
	r := mux.NewRouter()
	r.HandleFunc("/volumes/{volume:[0-9]+}", v.read)
	log.Fatal(http.ListenAndServe("127.0.0.1:9319", r))
}
