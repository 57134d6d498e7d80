// Command zone-transfer counts the records of a zone file, which it reads anew
// for each transfer.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

type zone struct{ path string }

func (z *zone) records() (n int, err error) {
	f, err := os.Open(z.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var field [16]byte
	for {
		k, err := f.Read(field[:])
		if k == 0 || err != nil {
			return n, nil
		}
		if field[0] == '@' {
			n++
		}
	}
}

func main() {
	z := &zone{path: filepath.Join(os.TempDir(), fmt.Sprintf("zone-%d", os.Getpid()))}
	if err := os.WriteFile(z.path, []byte(strings.Repeat("@ IN A 10.1.2.3\n", 300)), 0o600); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /records", func(w http.ResponseWriter, _ *http.Request) {
		n, err := z.records()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, n)
	})
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9718", nil))
}
