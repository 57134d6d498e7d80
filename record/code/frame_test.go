package code

import (
	"reflect"
	"testing"
)

func TestPlainStacks(t *testing.T) {
	body := Frame{"database/sql.(*DB).redline_conn", "/go/src/database/sql/sql.go", 1383}
	wrapper := Frame{"database/sql.(*DB).conn", "/go/src/database/sql/sql.go", 3700}
	caller := Frame{"main.load", "main.go", 7}
	inner := Frame{"database/sql.(*DB).redline_conn.func1", "/go/src/database/sql/sql.go", 1390}
	want := []Frame{{"database/sql.(*DB).conn.func1", inner.File, 1390}, {"database/sql.(*DB).conn", body.File, 1383}, caller}
	if got := Plain([]Frame{inner, body, wrapper, caller}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	recursive := []Frame{caller, caller}
	if got := Plain(recursive); !reflect.DeepEqual(got, recursive) {
		t.Errorf("%v", got)
	}
}
