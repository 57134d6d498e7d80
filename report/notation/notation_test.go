package notation

import (
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "0 ns"}, {999, "999 ns"}, {1000, "1.00 us"}, {9994, "9.99 us"}, {9996, "10.0 us"}, {99960, "100 us"},
		{999_499, "999 us"}, {999_600, "1.00 ms"}, {1_204_000_000, "1.20 s"}, {99_999_000_000, "100 s"},
		{185_000_000_000, "3 min 05 s"}, {3_599_600_000_000, "1 h 00 min"}, {-1500, "-1.50 us"},
		{math.MinInt64, "-2562047 h 47 min"}, // once an endless recursion
	} {
		if got := Duration(c.ns); got != c.want {
			t.Errorf("Duration(%d) = %q, want %q", c.ns, got, c.want)
		}
	}
}

func TestPercentNeverRoundsToNoneOrAll(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, "0 %"}, {0.00001, "< 0.01 %"}, {0.0002, "0.02 %"}, {0.087, "8.7 %"}, {0.0996, "10 %"},
		{0.87, "87 %"}, {0.9999, "99.9 %"}, {1, "100 %"},
	} {
		if got := Percent(c.share); got != c.want {
			t.Errorf("Percent(%v) = %q, want %q", c.share, got, c.want)
		}
	}
}

func TestQuantities(t *testing.T) {
	for got, want := range map[string]string{
		Size(1023): "1023 B", Size(1023.9): "1.00 KiB", Size(1 << 30): "1.00 GiB", Count(-1234567): "-1,234,567", Count(100): "100",
		Rate(999.999): "1000.00", Rate(2070.7): "2,071", Factor(7.69): "7.69x", Factor(15.75): "15.8x", Factor(212.4): "212x",
		Quantity(2.5e6, "ns"): "2.50 ms", Quantity(10, "1"): "10", Quantity(3, "1/s"): "3.00/s", Quantity(1536, "bytes"): "1.50 KiB",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("a\x1b[31m\r\n\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := Clean(s)
		if twice := Clean(once); twice != once {
			t.Errorf("clean is not stable: %q then %q", once, twice)
		}
		for _, r := range once {
			if r < ' ' || r == 0x7f {
				t.Errorf("control character in %q", once)
			}
		}
	})
}
