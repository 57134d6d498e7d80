// Command house-valuation says what a house may be worth.
package main

import (
	"log"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/house-valuation/internal/registry"
	"github.com/redline-go/redline/corpus/sick/house-valuation/internal/server"
	"github.com/redline-go/redline/corpus/sick/house-valuation/internal/valuation"
)

func main() {
	office := registry.NewClient(os.Getenv("BACKEND_URL"), time.Second)
	sources := []valuation.Source{
		valuation.Land{Office: office}, valuation.Energy{Office: office}, valuation.Noise{Office: office},
		valuation.Sales{Office: office}, valuation.Flood{Office: office},
	}
	v := valuation.New(valuation.Sequence, sources...)
	if os.Getenv("FIXED") == "1" {
		v = valuation.New(valuation.Together, sources...)
	}
	log.Fatal(server.New(v).Listen("127.0.0.1:23422"))
}
