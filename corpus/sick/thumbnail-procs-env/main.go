// Command thumbnail-procs-env scales pictures in stripes, a goroutine each. The
// deployment passes GOMAXPROCS=1, so the stripes run one after another.
package main

import (
	"image"
	"image/color"
	"log"
	"net/http"
	"strconv"
	"sync"

	"github.com/julienschmidt/httprouter"
)

type studio struct {
	original *image.RGBA
	stripes  int
}

func open(side int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), uint8(x ^ y), 255})
		}
	}
	return img
}

// average returns the mean colour of a square of the original.
func (s *studio) average(x, y, side int) (sum [3]uint32) {
	for dy := range side {
		row := s.original.Pix[(y*side+dy)*s.original.Stride+x*side*4:]
		for dx := range side {
			sum[0] += uint32(row[dx*4])
			sum[1] += uint32(row[dx*4+1])
			sum[2] += uint32(row[dx*4+2])
		}
	}
	return sum
}

// sharpen lifts what differs from its left neighbour.
func sharpen(line []uint32) {
	for i := len(line) - 1; i > 0; i-- {
		if d := line[i] - line[i-1]; d > 16 {
			line[i] += d / 4
		}
	}
}

func (s *studio) stripe(from, to, width, side int) (weight uint64) {
	line := make([]uint32, width)
	for y := from; y < to; y++ {
		for x := range width {
			c := s.average(x, y, side)
			line[x] = c[0]*299 + c[1]*587 + c[2]*114
		}
		for range 60 {
			sharpen(line)
		}
		for _, v := range line {
			weight = weight*31 + uint64(v)
		}
	}
	return weight
}

func (s *studio) thumbnail(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	side, _ := strconv.Atoi(p.ByName("side"))
	side = min(max(side, 4), 16)
	width := s.original.Rect.Dx() / side
	weights := make([]uint64, s.stripes)
	var all sync.WaitGroup
	for i := range s.stripes {
		all.Go(func() { weights[i] = s.stripe(i*width/s.stripes, (i+1)*width/s.stripes, width, side) })
	}
	all.Wait()
	for _, weight := range weights {
		_, _ = w.Write(strconv.AppendUint(nil, weight, 16))
	}
}

func main() {
	s := &studio{original: open(1024), stripes: 4}
	router := httprouter.New()
	router.GET("/thumbnails/:side", s.thumbnail)
	log.Fatal(http.ListenAndServe("127.0.0.1:9303", router))
}
