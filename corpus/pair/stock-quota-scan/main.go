// Command stock-quota-scan reports what is in stock. Its container may use a
// quarter of a CPU, which is the limit; and most of what it uses goes into a search
// of all shelves that an index would save.
package main

import (
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/labstack/echo/v4"
)

const place = "/sys/fs/cgroup/cpu/stock-quota-scan"

type shelf struct {
	article string
	pieces  int
}

type warehouse struct{ shelves []shelf }

// same compares two articles from the end, where they differ.
func same(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// count goes through all shelves.
func (w *warehouse) count(article string) (pieces int) {
	for i := range w.shelves {
		if same(w.shelves[i].article, article) {
			pieces += w.shelves[i].pieces
		}
	}
	return pieces
}

func main() {
	w := &warehouse{}
	for i := range 60000 {
		w.shelves = append(w.shelves, shelf{"article-" + strconv.Itoa(i%3000), 500})
	}
	_ = os.Mkdir(place, 0o755)
	for file, text := range map[string]string{"/cpu.cfs_quota_us": "25000", "/cgroup.procs": "0"} {
		if err := os.WriteFile(place+file, []byte(text), 0); err != nil {
			log.Fatal(err)
		}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		_ = os.WriteFile("/sys/fs/cgroup/cpu/cgroup.procs", []byte("0"), 0)
		_ = os.Remove(place)
		os.Exit(0)
	}()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/stock/:article", func(c echo.Context) error {
		return c.String(http.StatusOK, strconv.Itoa(w.count("article-"+c.Param("article"))))
	})
	log.Fatal(e.Start("127.0.0.1:9323"))
}
