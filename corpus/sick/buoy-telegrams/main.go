// Command buoy-telegrams packs the readings of buoys into telegrams for the
// short wave station, outermost element first.
package main

import (
	"log"
	"os"

	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/sick/buoy-telegrams/internal/buoys"
	"github.com/redline-go/redline/corpus/sick/buoy-telegrams/internal/station"
	"github.com/redline-go/redline/corpus/sick/buoy-telegrams/internal/tlv"
)

func main() {
	conf := station.Config{Buoys: buoys.NewFleet(40, 1500), NewPacker: func() tlv.Packer { return tlv.NewFront(192 << 10) }}
	if os.Getenv("FIXED") == "1" {
		conf.NewPacker = func() tlv.Packer { return tlv.NewBack(192 << 10) }
	}
	srv := &fasthttp.Server{Handler: station.New(conf).Handle, Name: "buoys", MaxRequestBodySize: 64 << 10}
	log.Fatal(srv.ListenAndServe("127.0.0.1:23602"))
}
