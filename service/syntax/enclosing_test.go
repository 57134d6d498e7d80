package syntax_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

const store = `package store

type Order struct{}

func (o *Order) Load() {
	o.lines()
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
		6:  {Name: "Load", Line: 5, Column: 17},
		10: {Name: "function literal", Line: 10, Column: 8},
		11: {Name: "Guard", Line: 9, Column: 6},
	} {
		if got, err := syntax.Enclosing(file, line); err != nil || got != want {
			t.Errorf("line %d is in %+v (%v), want %+v", line, got, err, want)
		}
	}
	if f, err := syntax.Enclosing(file, 3); err == nil {
		t.Errorf("a type's line is in function %+v", f)
	}
}
