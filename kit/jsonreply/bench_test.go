package jsonreply_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/redline-go/redline/kit/jsonreply"
)

// nowhere is a ResponseWriter that drops what it gets.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkReply encodes one answer of some size and hands it over.
func BenchmarkReply(b *testing.B) {
	for _, size := range []int{100, 2_000, 50_000} {
		value := make([]answer, size/50)
		for i := range value {
			value[i] = of(i, 5)
		}
		for _, c := range []struct {
			name  string
			write func(http.ResponseWriter, any) error
		}{
			{"marshal", func(w http.ResponseWriter, v any) error {
				body, err := json.Marshal(v)
				if err != nil {
					return err
				}
				_, err = w.Write(body)
				return err
			}},
			{"encoder", func(w http.ResponseWriter, v any) error { return json.NewEncoder(w).Encode(v) }},
			{"jsonreply", func(w http.ResponseWriter, v any) error { return jsonreply.Write(w, http.StatusOK, v) }},
		} {
			b.Run(fmt.Sprintf("size=%d/kind=%s", size, c.name), func(b *testing.B) {
				w := nowhere{http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					if err := c.write(w, value); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
