package disk

import "testing"

func TestJSONValues(t *testing.T) {
	for text, want := range map[string]int{`{}`: 2, `[1,2,3]`: 4, `{"a":"[,:{\"","b":[{}]}`: 7, ``: 1, `"\\`: 1} {
		if got := jsonValues([]byte(text)); got != want {
			t.Errorf("%s: %d values, want %d", text, got, want)
		}
	}
}
