package ladder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Answer is what a variant replied to one request of the sample.
type Answer struct {
	Request string // "GET /api/v1/order?uid=2"
	Status  int
	Body    []byte
	// Written says that the request changed data: numbers that the database gives and
	// times then differ from one variant to the next, and only they may.
	Written bool
}

// varying are the keys of a written order that differ from launch to launch.
var varying = []string{"id", "order_no", "at", "created_at", "updated_at", "reversed_at"}

// Same is an error unless a variant replied to the sample as the naive one did: with the
// same status and the same bytes, or else the same JSON.
func Same(naive, variant []Answer) error {
	if len(naive) != len(variant) {
		return fmt.Errorf("%d answers, and the naive service gave %d", len(variant), len(naive))
	}
	for i, want := range naive {
		got := variant[i]
		switch {
		case got.Request != want.Request || got.Written != want.Written:
			return fmt.Errorf("answer %d is to %s, the naive service's to %s", i, got.Request, want.Request)
		case got.Status != want.Status:
			return fmt.Errorf("%s: status %d, and the naive service answers %d", got.Request, got.Status, want.Status)
		case bytes.Equal(got.Body, want.Body):
			continue
		}
		a, errA := decoded(want)
		b, errB := decoded(got)
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s: the answer %.300q differs from the naive service's %.300q", got.Request, got.Body, want.Body)
		}
	}
	return nil
}

// decoded is an answer's JSON, of a written order without what varies.
func decoded(a Answer) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber() // an amount beyond 2^53 is not rounded away
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if a.Written {
		prune(v)
	}
	return v, nil
}

func prune(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range varying {
			if _, there := v[key]; there {
				v[key] = nil // that it is there still counts
			}
		}
		for _, inner := range v {
			prune(inner)
		}
	case []any:
		for _, inner := range v {
			prune(inner)
		}
	}
}
