// Package picture draws pictures of articles.
package picture

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"sync"
)

var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers{}}

type buffers struct{ sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.Pool.Get().(*png.EncoderBuffer)
	return e
}

func (b *buffers) Put(e *png.EncoderBuffer) { b.Pool.Put(e) }

// Thumbnail draws the thumbnail of an article.
func Thumbnail(article string, side int) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(article))
	seed := h.Sum32()
	img := image.NewGray(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.SetGray(x, y, color.Gray{Y: uint8(seed>>(uint(x^y)%24)) ^ uint8(x*y)})
		}
	}
	var b bytes.Buffer
	if err := encoder.Encode(&b, img); err != nil {
		return nil
	}
	return b.Bytes()
}
