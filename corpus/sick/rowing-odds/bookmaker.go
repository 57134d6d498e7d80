package main

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const heats = 400

// bookmaker answers quotes and remembers the last of each crew.
type bookmaker struct {
	apart bool

	mu   sync.Mutex
	last map[int64]float64
}

func (b *bookmaker) Quote(_ context.Context, in *structpb.Struct) (*wrapperspb.DoubleValue, error) {
	crew := int64(in.GetFields()["crew"].GetNumberValue())
	if crew <= 0 {
		return nil, status.Error(codes.InvalidArgument, "crew")
	}
	if b.apart {
		odds := simulate(crew)
		b.mu.Lock()
		b.last[crew] = odds
		b.mu.Unlock()
		return wrapperspb.Double(odds), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	odds := simulate(crew)
	b.last[crew] = odds
	return wrapperspb.Double(odds), nil
}

// simulate rows the regatta many times and returns one over the part that is won.
func simulate(crew int64) float64 {
	wind := gauge()
	r := rand.New(rand.NewPCG(uint64(crew), 1829))
	strength := 1 + float64(crew%7)/20 + wind
	won := 1
	for range heats {
		ours := strength * math.Exp(r.NormFloat64()/8)
		theirs := 1.1 * math.Exp(r.NormFloat64()/8)
		if ours > theirs {
			won++
		}
	}
	return heats / float64(won)
}

// gauge reads the wind, which the instrument needs 3 ms for.
func gauge() float64 {
	<-time.After(3 * time.Millisecond)
	return 0.01
}
