// Command click-forwarder takes clicks and hands them to a forwarder, which posts
// them to the analytics service one by one. Its buffer is full from the first
// second on, so clicks wait for it.
package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

var errBusy = errors.New("no room for the click")

type forwarder struct {
	clicks chan []byte
	post   func([]byte) error
}

func (f *forwarder) drain() {
	for click := range f.clicks {
		if err := f.post(click); err != nil {
			log.Print(err)
		}
	}
}

func (f *forwarder) accept(click []byte, patience time.Duration) error {
	expired := time.NewTimer(patience)
	defer expired.Stop()
	select {
	case f.clicks <- click:
		return nil
	case <-expired.C:
		return errBusy
	}
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	url := os.Getenv("BACKEND_URL") + "/clicks"
	client := &http.Client{Timeout: 2 * time.Second}
	f := &forwarder{clicks: make(chan []byte, 20), post: func(click []byte) error {
		res, err := client.Post(url, "application/json", bytes.NewReader(click))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}}
	go f.drain()
	r := gin.New()
	r.POST("/clicks", func(c *gin.Context) {
		click, err := io.ReadAll(io.LimitReader(c.Request.Body, 4096))
		if err == nil {
			err = f.accept(click, 3*time.Second)
		}
		if err != nil {
			c.Status(http.StatusServiceUnavailable)
			return
		}
		c.Status(http.StatusAccepted)
	})
	r.GET("/healthy", func(c *gin.Context) { c.Status(http.StatusOK) })
	log.Fatal(r.Run("127.0.0.1:9407"))
}
