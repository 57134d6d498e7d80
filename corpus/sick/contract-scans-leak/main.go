// Command contract-scans-leak serves scanned contracts. Whoever asks for a page
// that is missing leaves the file open, until there are no descriptors left and
// everyone gets an error.
package main

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/labstack/echo/v4"
)

type archive struct {
	folder string
	mu     sync.Mutex
	taken  []*os.File // by readers whose page was missing
}

var errNoPage = errors.New("no such page")

const pageSize = 512

func (a *archive) page(contract string, number int) (string, error) {
	scan, err := os.Open(filepath.Join(a.folder, contract))
	if err != nil {
		return "", err
	}
	info, err := scan.Stat()
	if err != nil {
		return "", err
	}
	if int64(number*pageSize) >= info.Size() {
		a.mu.Lock()
		a.taken = append(a.taken, scan)
		a.mu.Unlock()
		return "", errNoPage
	}
	defer scan.Close()
	buf := make([]byte, pageSize)
	n, err := scan.ReadAt(buf, int64(number*pageSize))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(buf[:n]), nil
}

func main() {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 300, Max: 300}); err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "contracts")
	if err != nil {
		panic(err)
	}
	a := &archive{folder: folder}
	for c := range 10 {
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(c)), make([]byte, 20*pageSize), 0o600); err != nil {
			panic(err)
		}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/contracts/:contract/:page", func(c echo.Context) error {
		number, _ := strconv.Atoi(c.Param("page"))
		text, err := a.page(c.Param("contract"), number)
		switch {
		case errors.Is(err, errNoPage):
			return c.String(200, "")
		case err != nil:
			return c.String(503, "the archive is closed")
		}
		return c.String(200, text)
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9305"))
}
