// Command beacon-hits counts what visitors of a museum stood before, from the
// short reports of their audio guides.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/beacon-hits/internal/guide"
	"github.com/redline-go/redline/corpus/sick/beacon-hits/internal/halls"
	"github.com/redline-go/redline/corpus/sick/beacon-hits/internal/web"
)

func main() {
	conf := guide.Defaults()
	if os.Getenv("FIXED") == "1" {
		conf.ReadBuffer, conf.MaxLine = 2<<10, 4<<10
	}
	router := web.New(guide.NewReader(conf), halls.New(64), slog.Default())
	if err := http.ListenAndServe("127.0.0.1:23605", router); err != nil {
		slog.Error("listen", "err", err)
	}
}
