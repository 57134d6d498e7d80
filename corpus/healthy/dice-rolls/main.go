// Command dice-rolls rolls dice for the tables of a games club.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

var dice = regexp.MustCompile(`^(\d{1,2})d(\d{1,3})$`)

var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// table is a club table with its latest rolls.
type table struct {
	mu    sync.Mutex
	rolls []roll // the latest 200
}

type roll struct {
	Dice  string    `json:"dice"`
	Faces []int     `json:"faces"`
	Total int       `json:"total"`
	At    time.Time `json:"at"`
}

func (t *table) add(r roll) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rolls) == 200 {
		t.rolls = append(t.rolls[:0], t.rolls[1:]...)
	}
	t.rolls = append(t.rolls, r)
}

func (t *table) best(n int) []roll {
	t.mu.Lock()
	list := append([]roll(nil), t.rolls...)
	t.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].Total > list[j].Total })
	return list[:min(n, len(list))]
}

type club struct {
	tables [16]table
	log    *logrus.Logger
}

func (c *club) table(r *http.Request) *table {
	n, err := strconv.Atoi(r.PathValue("table"))
	if err != nil || n < 0 || n >= len(c.tables) {
		return nil
	}
	return &c.tables[n]
}

func (c *club) roll(w http.ResponseWriter, r *http.Request) {
	t, m := c.table(r), dice.FindStringSubmatch(strings.ToLower(r.FormValue("dice")))
	if t == nil || m == nil {
		http.Error(w, "dice as in 3d6", http.StatusBadRequest)
		return
	}
	count, _ := strconv.Atoi(m[1])
	sides, _ := strconv.Atoi(m[2])
	out := roll{Dice: m[0], At: time.Now()}
	for range count {
		face := 1 + rand.IntN(max(sides, 1))
		out.Faces = append(out.Faces, face)
		out.Total += face
	}
	t.add(out)
	c.log.WithFields(logrus.Fields{"dice": out.Dice, "total": out.Total}).Info("rolled")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func (c *club) best(w http.ResponseWriter, r *http.Request) {
	t := c.table(r)
	if t == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Encoding", "gzip")
	z := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(w)
	defer z.Close()
	for i, x := range t.best(40) {
		fmt.Fprintf(z, "%2d  %-6s %4d  %v\n", i+1, x.Dice, x.Total, x.Faces)
	}
}

func main() {
	c := &club{log: logrus.New()}
	go func() { // old rolls leave the tables by themselves
		for {
			time.Sleep(30 * time.Second)
			for i := range c.tables {
				t := &c.tables[i]
				t.mu.Lock()
				for len(t.rolls) > 0 && time.Since(t.rolls[0].At) > time.Hour {
					t.rolls = t.rolls[1:]
				}
				t.mu.Unlock()
			}
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tables/{table}/rolls", c.roll)
	mux.HandleFunc("GET /tables/{table}/best", c.best)
	mux.HandleFunc("GET /live", func(http.ResponseWriter, *http.Request) {})
	if err := http.ListenAndServe("127.0.0.1:9224", mux); err != nil {
		c.log.WithError(err).Error("serve")
		os.Exit(1)
	}
}
