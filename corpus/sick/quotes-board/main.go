// Command quotes-board serves the boards of an exchange. It keeps the day's
// instruments in memory and is started with a GOGC far too small for that, so that
// it collects almost without rest.
package main

import (
	"net/http"
	"sort"
	"strconv"

	"github.com/gin-gonic/gin"
)

type instrument struct {
	Symbol string
	Venue  *venue
	Bids   []*level
	Asks   []*level
	Last   *level
}

type venue struct{ Code string }

type level struct {
	Price, Size int64
	Next        *level
}

type board struct{ rows []*instrument }

func ladder(n int, from, step int64) []*level {
	var out []*level
	var last *level
	for i := range n {
		l := &level{Price: from + int64(i)*step, Size: int64(i%9+1) * 100, Next: last}
		out, last = append(out, l), l
	}
	return out
}

func opening(n int) *board {
	b := &board{}
	venues := []*venue{{"XETR"}, {"XLON"}, {"XPAR"}}
	for i := range n {
		in := &instrument{Symbol: "S" + strconv.Itoa(i), Venue: venues[i%3], Bids: ladder(16, 1000+int64(i), -1),
			Asks: ladder(16, 1001+int64(i), 1)}
		in.Last = in.Bids[0]
		b.rows = append(b.rows, in)
	}
	return b
}

type quote struct {
	symbol   string
	bid, ask int64
}

func (b *board) pick(from int) []*instrument {
	rows := make([]*instrument, 0, 64)
	for i := range 64 {
		rows = append(rows, b.rows[(from*64+i)%len(b.rows)])
	}
	return rows
}

func best(rows []*instrument) []*quote {
	quotes := make([]*quote, len(rows))
	for i, r := range rows {
		quotes[i] = &quote{symbol: r.Symbol, bid: r.Bids[0].Price, ask: r.Asks[0].Price}
	}
	return quotes
}

func spreads(quotes []*quote) []int64 {
	out := make([]int64, 0, len(quotes)*4)
	for _, q := range quotes {
		out = append(out, q.ask-q.bid, q.bid, q.ask, q.ask+q.bid)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func text(quotes []*quote, spreads []int64) []byte {
	out := make([]byte, 0, 3<<10)
	for _, q := range quotes {
		out = append(out, q.symbol...)
		out = append(out, ' ')
		out = strconv.AppendInt(out, q.bid, 10)
		out = append(out, '\n')
	}
	return strconv.AppendInt(out, spreads[len(spreads)/2], 10)
}

func main() {
	b := opening(24000)
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/boards/:n", func(c *gin.Context) {
		n, err := strconv.Atoi(c.Param("n"))
		if err != nil || n < 0 {
			c.Status(http.StatusBadRequest)
			return
		}
		quotes := best(b.pick(n))
		c.Data(http.StatusOK, "text/plain", text(quotes, spreads(quotes)))
	})
	_ = r.Run("127.0.0.1:9603")
}
