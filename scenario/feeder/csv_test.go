package feeder

import (
	"reflect"
	"strings"
	"testing"
)

// TestReadCSV: a spreadsheet begins a file with a mark, and may quote every field.
func TestReadCSV(t *testing.T) {
	for _, text := range []string{"id,name\n1,a b\n", "\ufeffid, name\n1,a b\n", "\ufeff\"id\",\"name\"\r\n\"1\",\"a b\"\r\n"} {
		got, err := ReadCSV(strings.NewReader(text))
		want := &Table{Columns: []string{"id", "name"}, Rows: [][]string{{"1", "a b"}}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "\ufeff", "id\n", "id,id\n1,2\n", "a,\n1,2\n", "a\n1,2\n"} {
		if got, err := ReadCSV(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
