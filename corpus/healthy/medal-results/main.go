// Command medal-results encodes, signs and compresses a table of results for every request,
// and checks its filter, if any, with a pattern. At its rate the CPUs are mostly idle.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"regexp"
	"sort"
	"sync"

	"github.com/valyala/fasthttp"
)

var (
	country = regexp.MustCompile(`^[A-Z]{3}(,[A-Z]{3})*$`)
	writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	secret  = []byte("for the press only")
)

type medal struct {
	Country string `json:"country"`
	Gold    int    `json:"gold"`
	Silver  int    `json:"silver"`
	Bronze  int    `json:"bronze"`
}

func standings(only string) []medal {
	list := make([]medal, 0, 90)
	for i := range 90 {
		m := medal{fmt.Sprintf("%c%c%c", 'A'+i%26, 'A'+i/4, 'A'+(i*7)%26), i * 31 % 17, i * 17 % 23, i * 13 % 29}
		if only == "" || bytes.Contains([]byte(only), []byte(m.Country)) {
			list = append(list, m)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Gold > list[j].Gold })
	return list
}

func results(c *fasthttp.RequestCtx) {
	only := string(c.QueryArgs().Peek("only"))
	if only != "" && !country.MatchString(only) {
		c.SetStatusCode(fasthttp.StatusBadRequest)
		return
	}
	doc, err := json.Marshal(standings(only))
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(doc)
	c.Response.Header.Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))
	c.Response.Header.Set("Content-Encoding", "gzip")
	c.SetContentType("application/json")
	zw := writers.Get().(*gzip.Writer)
	defer writers.Put(zw)
	zw.Reset(c)
	if _, err := zw.Write(doc); err != nil {
		log.Print(err)
	}
	_ = zw.Close()
}

func main() {
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9883", results))
}
