// Command villa-feed gives travel portals the villas that can be booked.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/domain"
	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/dto"
	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/mapping"
	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/transport"
)

func main() {
	var m mapping.Mapper[domain.Villa, dto.Villa] = mapping.ByName[domain.Villa, dto.Villa]{}
	if os.Getenv("FIXED") == "1" {
		m = mapping.Func[domain.Villa, dto.Villa](dto.FromVilla)
	}
	h := transport.NewHandler(domain.NewCatalogue(50), m)
	log.Fatal(http.ListenAndServe("127.0.0.1:23417", h))
}
