// Command events-background-sync takes events of a web shop into a buffer. A
// goroutine writes and syncs them to the disk ten times a second; no request
// waits for it.
package main

import (
	"bytes"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

type spool struct {
	mu      sync.Mutex
	pending bytes.Buffer
	file    *os.File
}

func (s *spool) add(event []byte) {
	s.mu.Lock()
	s.pending.Write(event)
	s.pending.WriteByte('\n')
	s.mu.Unlock()
}

// drain takes what is pending, and writes it without holding the lock.
func (s *spool) drain() error {
	s.mu.Lock()
	batch := bytes.Clone(s.pending.Bytes())
	s.pending.Reset()
	s.mu.Unlock()
	for len(batch) > 0 {
		n := min(len(batch), 4096)
		if _, err := s.file.Write(batch[:n]); err != nil {
			return err
		}
		if err := s.file.Sync(); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

func (s *spool) run() {
	for range time.Tick(100 * time.Millisecond) {
		if err := s.drain(); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "spool"))
	if err != nil {
		log.Fatal(err)
	}
	s := &spool{file: f}
	go s.run()
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.POST("/events", func(c *gin.Context) {
		event, err := c.GetRawData()
		if err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		s.add(event)
		c.Status(http.StatusAccepted)
	})
	log.Fatal(g.Run("127.0.0.1:9320"))
}
