package notation

import (
	"strings"
	"testing"
)

func TestAxes(t *testing.T) {
	rows := []string{"*", " *", "  *  "}
	for plain, want := range map[bool]string{
		false: "9.10 µs │ *\n        │  *\n   1 ns │   *\n        ╰──────",
		true:  "9.10 us | *\n        |  *\n   1 ns |   *\n        +------",
	} {
		if got := strings.Join(Axes(rows, 5, Duration(9100), "1 ns", plain), "\n"); got != want {
			t.Errorf("plain %t:\n%s\nwant\n%s", plain, got, want)
		}
	}
	if got := Margin(Duration(9100), "1 ns"); got != len("9.10 us | ") {
		t.Errorf("the rows begin after %d columns", got)
	}
}
