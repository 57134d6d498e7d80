// Command manual-heavy-checks hands out a manual from memory, at next to no cost.
// The scenario parses each copy to check places in it, with two event loops,
// which then take the CPUs: the run measures the generator.
package main

import (
	"bytes"
	"log"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
)

type manual struct{ text []byte }

func write(chapters int) manual {
	var b bytes.Buffer
	b.WriteString(`{"chapters":[`)
	for c := range chapters {
		b.WriteString(`{"chapter":` + strconv.Itoa(c) + `,"steps":[`)
		b.WriteString(strings.Repeat(`"turn the lever until it rests",{"wait":[1,2,3]},`, 20))
		b.WriteString(`"done"]},`)
	}
	b.WriteString(`{}],"end":"of the manual"}`)
	return manual{b.Bytes()}
}

func (m manual) serve(ctx *fasthttp.RequestCtx) { ctx.Response.SetBodyRaw(m.text) }

func main() {
	m := write(260)
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9317", m.serve))
}
