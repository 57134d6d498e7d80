// Command catalog-pages renders shelves of a shop's catalogue. Each page is put
// together by appending to a slice that begins empty, so that it is allocated and
// copied over and over while it grows.
package main

import (
	"bytes"
	"encoding/binary"
	"log"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
)

type product struct {
	sku   uint32
	price uint32
	title []byte
	blurb []byte
}

type shelf struct {
	name     string
	products []product
}

type catalogue struct {
	shelves []shelf
	banner  []byte
}

func newCatalogue(shelves, perShelf int) *catalogue {
	c := &catalogue{banner: bytes.Repeat([]byte("<hr class=\"thin\"/>"), 40)}
	for s := range shelves {
		sh := shelf{name: "shelf-" + strconv.Itoa(s)}
		for i := range perShelf {
			sh.products = append(sh.products, product{
				sku: uint32(s*1000 + i), price: uint32(199 + i*7%900),
				title: bytes.Repeat([]byte("Lamp "), 6+i%5),
				blurb: bytes.Repeat([]byte("Warm light for long evenings. "), 60+i%13),
			})
		}
		c.shelves = append(c.shelves, sh)
	}
	return c
}

// card draws one product in its frame.
func (c *catalogue) card(p product) []byte {
	var html []byte
	html = append(html, "<article><h3>"...)
	html = append(html, p.title...)
	html = append(html, "</h3><p>"...)
	html = append(html, p.blurb...)
	html = append(html, "</p><b data-sku=\""...)
	html = binary.LittleEndian.AppendUint32(html, p.sku)
	html = append(html, "\">"...)
	html = binary.LittleEndian.AppendUint32(html, p.price)
	return append(html, "</b></article>"...)
}

// page draws a whole shelf.
func (c *catalogue) page(s shelf) []byte {
	var html []byte
	html = append(html, c.banner...)
	for _, p := range s.products {
		html = append(html, c.card(p)...)
	}
	return append(html, c.banner...)
}

func (c *catalogue) serveShelf(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(chi.URLParam(r, "shelf"))
	if err != nil || n < 0 || n >= len(c.shelves) {
		http.NotFound(w, r)
		return
	}
	html := c.page(c.shelves[n])
	w.Header().Set("X-Page-Bytes", strconv.Itoa(len(html)))
	// The storefront fetches the fold first and the rest by range.
	_, _ = w.Write(html[:4<<10])
}

func main() {
	c := newCatalogue(50, 120)
	r := chi.NewRouter()
	r.Get("/shelves/{shelf}", c.serveShelf)
	log.Fatal(http.ListenAndServe("127.0.0.1:9601", r))
}
