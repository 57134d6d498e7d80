// Package station answers the short wave station.
package station

import (
	"bytes"
	"hash/crc32"
	"strconv"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/sick/buoy-telegrams/internal/buoys"
	"github.com/redline-go/redline/corpus/sick/buoy-telegrams/internal/tlv"
)

const (
	tagReading byte = 0x21
	tagHour    byte = 0x30
	tagDay     byte = 0x31
)

// Config says what a station uses.
type Config struct {
	Buoys     *buoys.Fleet
	NewPacker func() tlv.Packer
}

// Station makes telegrams.
type Station struct {
	fleet   *buoys.Fleet
	packers sync.Pool
}

// New makes a station.
func New(c Config) *Station {
	s := &Station{fleet: c.Buoys}
	s.packers.New = func() any { return c.NewPacker() }
	return s
}

var prefix = []byte("/telegrams/")

// Handle answers a request.
func (s *Station) Handle(ctx *fasthttp.RequestCtx) {
	path := ctx.Path()
	switch {
	case string(path) == "/health":
		ctx.SetStatusCode(fasthttp.StatusOK)
	case bytes.HasPrefix(path, prefix):
		buoy, err := strconv.Atoi(string(path[len(prefix):]))
		if err != nil {
			ctx.Error("buoy", fasthttp.StatusBadRequest)
			return
		}
		day, ok := s.fleet.Day(buoy)
		if !ok {
			ctx.Error("buoy", fasthttp.StatusNotFound)
			return
		}
		s.telegram(ctx, day)
	default:
		ctx.Error("not found", fasthttp.StatusNotFound)
	}
}

func (s *Station) telegram(ctx *fasthttp.RequestCtx, day []buoys.Reading) {
	p := s.packers.Get().(tlv.Packer)
	defer s.packers.Put(p)
	p.Reset()
	var scratch [32]byte
	for i := len(day) - 1; i >= 0; i-- {
		p.Put(tagReading, day[i].AppendTo(scratch[:0]))
		if i%60 == 0 {
			p.Wrap(tagHour)
		}
	}
	p.Wrap(tagDay)
	body := p.Bytes()
	ctx.Response.Header.Set("X-Checksum", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 16))
	ctx.SetContentType("application/octet-stream")
	ctx.SetBody(body)
}
