package syntax_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

const store = `package store

type Order struct{ lines [40]int }

func Load(id int) *Order {
	o := Order{}
	o.lines[0] = id
	return &o
}

func Sum(tax []int, at []int) (t int) {
	for _, i := range at {
		t += tax[i]
	}
	return t
}

func Guard(f func()) {
	defer func() { recover() }()
	f()
}
`

func TestEnclosing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.go")
	if err := os.WriteFile(file, []byte(store), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]syntax.Function{
		13: {Name: "Sum", Line: 11, Column: 6},
		19: {Name: "function literal", Line: 19, Column: 8},
		20: {Name: "Guard", Line: 18, Column: 6},
	} {
		if got, err := syntax.Enclosing(file, line); err != nil || got != want {
			t.Errorf("line %d is in %+v (%v), want %+v", line, got, err, want)
		}
	}
	if f, err := syntax.Enclosing(file, 3); err == nil {
		t.Errorf("a type's line is in function %+v", f)
	}
}
