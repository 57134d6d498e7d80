package audit

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/plan"
)

// Snapshot compares what fixtures look like on the wire.
type Snapshot struct{}

// Same implements Comparer.
func (Snapshot) Same(a, b *plan.Fixture) (bool, error) {
	left, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	right, err := json.Marshal(b)
	if err != nil {
		return false, err
	}
	return bytes.Equal(left, right), nil
}

// Fields compares field by field.
type Fields struct{}

// Same implements Comparer.
func (Fields) Same(a, b *plan.Fixture) (bool, error) {
	return a.Name == b.Name && slices.EqualFunc(a.Shelves, b.Shelves, func(x, y plan.Shelf) bool {
		return x.Height == y.Height && slices.EqualFunc(x.Facings, y.Facings, func(p, q plan.Facing) bool {
			return p.SKU == q.SKU && p.Slot == q.Slot && p.Width == q.Width && p.Depth == q.Depth && maps.Equal(p.Labels, q.Labels)
		})
	}), nil
}
