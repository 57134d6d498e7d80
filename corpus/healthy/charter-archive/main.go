// Command charter-archive packs the charters of a day. A command does the packing: it
// was started with the service, reads through a pipe for as long as the service runs,
// and no request waits for it.
package main

import (
	"encoding/json"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"os/exec"
	"strconv"

	"github.com/go-chi/chi/v5"
)

type charter struct {
	Boat string `json:"boat"`
	Seal uint32 `json:"seal"`
}

// archive takes what is sealed to the packer, in the background.
type archive struct{ lines chan []byte }

func open() (*archive, error) {
	cmd := exec.Command("gzip", "-c")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a := &archive{lines: make(chan []byte, 1024)}
	go func() {
		for line := range a.lines {
			if _, err := in.Write(line); err != nil {
				log.Fatal(err)
			}
		}
	}()
	return a, nil
}

// keep drops a line when the packer is behind: the day's journal has it.
func (a *archive) keep(line []byte) {
	select {
	case a.lines <- line:
	default:
	}
}

func main() {
	a, err := open()
	if err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/charters/{boat}", func(w http.ResponseWriter, r *http.Request) {
		boat := chi.URLParam(r, "boat")
		text, err := json.Marshal(charter{Boat: boat, Seal: crc32.ChecksumIEEE([]byte(boat))})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		a.keep(append(text, '\n'))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9982", r))
}
