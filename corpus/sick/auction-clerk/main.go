// Command auction-clerk takes bids. To have them in order, one goroutine (the clerk)
// owns all lots and takes bids from a channel one after another, and has each
// stamped by the notary's service before it takes the next.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

var errTooLow = errors.New("bid is below the highest")

type (
	bid struct {
		Lot    int    `json:"lot"`
		Bidder string `json:"bidder"`
		Cents  int64  `json:"cents"`
	}
	verdict struct {
		Rank int
		Err  error
	}
	envelope struct {
		bid
		answer chan verdict
	}
	clerk struct {
		desk    chan envelope
		highest map[int]bid
		notary  *http.Client
		url     string
		taken   int
	}
)

func (c *clerk) stamp(b bid) error {
	resp, err := c.notary.Get(c.url + "/stamp?lot=" + strconv.Itoa(b.Lot))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (c *clerk) work() {
	for e := range c.desk {
		e.answer <- c.decide(e.bid)
	}
}

func (c *clerk) decide(b bid) verdict {
	if high := c.highest[b.Lot]; high.Bidder == b.Bidder && b.Cents < high.Cents {
		return verdict{Err: errTooLow}
	}
	if err := c.stamp(b); err != nil {
		return verdict{Err: err}
	}
	c.taken++
	c.highest[b.Lot] = b
	return verdict{Rank: c.taken}
}

func (c *clerk) submit(ctx context.Context, b bid) (int, error) {
	e := envelope{bid: b, answer: make(chan verdict, 1)}
	select {
	case c.desk <- e:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	v := <-e.answer
	return v.Rank, v.Err
}

func main() {
	c := &clerk{
		desk:    make(chan envelope),
		highest: map[int]bid{},
		notary:  &http.Client{Timeout: time.Second},
		url:     os.Getenv("BACKEND_URL"),
	}
	go c.work()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/status", func(ec echo.Context) error { return ec.NoContent(http.StatusNoContent) })
	e.POST("/lots/:lot/bids", func(ec echo.Context) error {
		var b bid
		if err := ec.Bind(&b); err != nil {
			return err
		}
		b.Lot, _ = strconv.Atoi(ec.Param("lot"))
		rank, err := c.submit(ec.Request().Context(), b)
		if err != nil {
			return echo.NewHTTPError(http.StatusConflict, err.Error())
		}
		return ec.JSON(http.StatusCreated, map[string]int{"rank": rank})
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9852"))
}
