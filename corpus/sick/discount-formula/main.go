// Command discount-formula computes a basket's discount with a formula that the
// shop's managers wrote.
package main

import (
	"log"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

const policy = "(price - cost) * 15 / 100 + ((stock + 40) * 3 - price / 7) / (9 + age * 2) - (cost * 2 - (price - 4) * 3) / 11"

// formula is the text that is left to read.
type formula struct {
	text   string
	at     int
	lookup *item
}

type item struct{ price, cost, stock, age int }

func (f *formula) space() {
	for f.at < len(f.text) && f.text[f.at] == ' ' {
		f.at++
	}
}

func (f *formula) sum() int {
	v := f.product()
	for f.space(); f.at < len(f.text) && (f.text[f.at] == '+' || f.text[f.at] == '-'); f.space() {
		op := f.text[f.at]
		f.at++
		if op == '+' {
			v += f.product()
		} else {
			v -= f.product()
		}
	}
	return v
}

func (f *formula) product() int {
	v := f.term()
	for f.space(); f.at < len(f.text) && (f.text[f.at] == '*' || f.text[f.at] == '/'); f.space() {
		op := f.text[f.at]
		f.at++
		if op == '*' {
			v *= f.term()
		} else if d := f.term(); d != 0 {
			v /= d
		}
	}
	return v
}

func (f *formula) term() int {
	f.space()
	if f.text[f.at] == '(' {
		f.at++
		v := f.sum()
		f.space()
		f.at++
		return v
	}
	from := f.at
	for f.at < len(f.text) && (f.text[f.at] >= 'a' && f.text[f.at] <= 'z' || f.text[f.at] >= '0' && f.text[f.at] <= '9') {
		f.at++
	}
	return f.value(f.text[from:f.at])
}

func (f *formula) value(name string) (v int) {
	switch name {
	case "price":
		return f.lookup.price
	case "cost":
		return f.lookup.cost
	case "stock":
		return f.lookup.stock
	case "age":
		return f.lookup.age
	}
	for i := range len(name) {
		v = 10*v + int(name[i]-'0')
	}
	return v
}

func main() {
	basket := make([]item, 160)
	for i := range basket {
		basket[i] = item{100 + i, 60 + i/2, i % 30, i % 12}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/discount", func(c echo.Context) error {
		total := 0
		for i := range basket {
			f := formula{text: policy, lookup: &basket[i]}
			total += f.sum()
		}
		return c.String(http.StatusOK, strconv.Itoa(total))
	})
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	log.Fatal(e.Start("127.0.0.1:9722"))
}
