// Command badge-reader asks the door's reader for the badge in front of it. The
// reader is a device that answers after some milliseconds, and it is read by a
// blocking system call that holds a thread all the while.
package main

import (
	"encoding/hex"
	"log"
	"net/http"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
)

// reader is a device with a descriptor of its own, outside the runtime's poller.
type reader struct{ fd int }

func (d reader) badge() (string, error) {
	var frame [8]byte
	n, err := syscall.Read(d.fd, frame[:])
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(frame[:n]), nil
}

// openReader stands in for the driver: a frame arrives every 3 ms.
func openReader() (reader, error) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return reader{}, err
	}
	go func() {
		frame := make([]byte, 8)
		for i := byte(0); ; i++ {
			time.Sleep(3 * time.Millisecond)
			frame[7] = i
			if _, err := syscall.Write(ends[1], frame); err != nil {
				log.Fatal(err)
			}
		}
	}()
	return reader{ends[0]}, nil
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	doors := make([]reader, 4)
	for i := range doors {
		var err error
		if doors[i], err = openReader(); err != nil {
			log.Fatal(err)
		}
	}
	r := gin.New()
	r.GET("/doors/:door/badge", func(c *gin.Context) {
		badge, err := doors[int(c.Param("door")[0])%len(doors)].badge()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.String(http.StatusOK, badge)
	})
	log.Fatal(r.Run("127.0.0.1:9419"))
}
