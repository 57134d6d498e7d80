// Command parts-mmap answers from a catalogue of spare parts that is mapped into
// memory. The container's memory holds a quarter of the catalogue, so that most
// look-ups fault and wait for the disk.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/julienschmidt/httprouter"
)

const (
	page  = 4096
	pages = 48 << 10 // 192 MiB
	limit = 48 << 20
	group = "/sys/fs/cgroup/memory/parts-mmap"
)

type catalogue struct{ mapped []byte }

// create writes the catalogue: part n begins page n.
func create(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 256*page)
	for from := 0; from < pages; from += 256 {
		for i := range 256 {
			binary.LittleEndian.PutUint64(block[i*page:], uint64(from+i)*2654435761)
		}
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return f.Sync()
}

func open(path string) (*catalogue, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// What was written is dropped from memory, as after a start.
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, 4, 0, 0); errno != 0 {
		return nil, errno
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, pages*page, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &catalogue{mapped}, syscall.Madvise(mapped, syscall.MADV_RANDOM)
}

// find follows a part to those that fit it.
func (c *catalogue) find(part, fitting int) []uint64 {
	found := make([]uint64, 0, fitting)
	at := uint64(part) % pages
	for range fitting {
		code := binary.LittleEndian.Uint64(c.mapped[at*page:])
		found = append(found, code)
		at = (code>>7 + uint64(part)*7919 + at) % pages
	}
	return found
}

func confine() error {
	_ = os.Mkdir(group, 0o755)
	if err := os.WriteFile(group+"/memory.limit_in_bytes", []byte(strconv.Itoa(limit)), 0); err != nil {
		return err
	}
	return os.WriteFile(group+"/cgroup.procs", []byte("0"), 0)
}

func main() {
	dir, err := os.MkdirTemp("", "parts")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "catalogue")
	if err := create(path); err != nil {
		log.Fatal(err)
	}
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		log.Fatal(err)
	}
	if err := confine(); err != nil {
		log.Fatal(err)
	}
	go func() {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		<-ended
		_ = os.RemoveAll(dir)
		leave(before)
		os.Exit(0)
	}()
	c, err := open(path)
	if err != nil {
		log.Fatal(err)
	}
	r := httprouter.New()
	r.GET("/parts/:part", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		part, _ := strconv.Atoi(p.ByName("part"))
		fmt.Fprintln(w, c.find(part, 24))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9314", r))
}

// leave goes back to the group that the process came from.
func leave(groups []byte) {
	for line := range bytes.Lines(groups) {
		fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3)
		if len(fields) == 3 && string(fields[1]) == "memory" {
			_ = os.WriteFile("/sys/fs/cgroup/memory"+string(fields[2])+"/cgroup.procs", []byte("0"), 0)
		}
	}
	_ = os.Remove(group)
}
