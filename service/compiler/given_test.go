package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHandsOn asks for each line of a file whether it passes on what its function was given; those
// that do say so.
func TestHandsOn(t *testing.T) {
	const source = `package p

func (d *db) query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	log(sql)
	return d.DB.QueryContext(ctx, sql, args...) // given
}

func (d *db) get(dest any, query string, args []any) error {
	return d.x.Get(dest, d.x.Rebind(query), args...) // given
}

func (d *db) retry(query string, args ...any) error {
	return d.again(func() error {
		_, err := d.DB.Exec(
			query, args..., // given
		)
		return err
	})
}

func (d *db) user(name string, more ...any) error {
	d.Exec(byName, more...)
	d.Exec("SELECT 1", more...)
	d.Query("SELECT * FROM users WHERE name = ?", name)
	args := []any{name}
	return d.Exec(name, args...)
}
`
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Split(source, "\n") {
		if strings.HasSuffix(text, "(") || strings.TrimSpace(text) == ")" {
			continue // where the call of several lines begins and ends
		}
		on, err := HandsOn(file, i+1)
		if want := strings.Contains(text, "// given"); err != nil || on != want {
			t.Errorf("line %d, %q: hands on %v, want %v (%v)", i+1, text, on, want, err)
		}
	}
	if _, err := HandsOn(file+"x", 1); err == nil {
		t.Error("a file that is missing was parsed")
	}
}
