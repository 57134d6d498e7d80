// Command voucher-numbers issues numbers from a file that other
// programs use too, and takes the file's lock for every one. The
// requests of this one process stand in line for it inside the kernel.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

type numbers struct{ path string }

func checksum(n uint64) uint64 {
	for round := range uint64(350_000) {
		n = n*0x9e3779b97f4a7c15 + round
		n ^= n >> 31
	}
	return n
}

func (s numbers) issue() (number uint64, err error) {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fd := int(f.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return 0, err
	}
	defer func() { err = syscall.Flock(fd, syscall.LOCK_UN) }()
	var record [16]byte
	if _, err := f.ReadAt(record[:], 0); err != nil && err != io.EOF {
		return 0, err
	}
	number = binary.BigEndian.Uint64(record[:8]) + 1
	binary.BigEndian.PutUint64(record[:8], number)
	binary.BigEndian.PutUint64(record[8:], checksum(number))
	_, err = f.WriteAt(record[:], 0)
	return number, err
}

func main() {
	dir, err := os.MkdirTemp("", "vouchers")
	if err != nil {
		log.Fatal(err)
	}
	s := numbers{filepath.Join(dir, "last")}
	log.Fatal(http.ListenAndServe("127.0.0.1:9420", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, err := s.issue()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, "V-"+strconv.FormatUint(n, 10))
	})))
}
