package report

import "testing"

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "0 ns"}, {999, "999 ns"}, {1000, "1.00 us"}, {9994, "9.99 us"}, {9996, "10.0 us"}, {99960, "100 us"},
		{999_499, "999 us"}, {999_600, "1.00 ms"}, {1_204_000_000, "1.20 s"}, {99_999_000_000, "100 s"},
		{185_000_000_000, "3 min 05 s"}, {3_599_600_000_000, "1 h 00 min"}, {-1500, "-1.50 us"},
	} {
		if got := duration(c.ns); got != c.want {
			t.Errorf("duration(%d) = %q, want %q", c.ns, got, c.want)
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
		if got := percent(c.share); got != c.want {
			t.Errorf("percent(%v) = %q, want %q", c.share, got, c.want)
		}
	}
}

func TestQuantities(t *testing.T) {
	for got, want := range map[string]string{
		size(1023): "1023 B", size(1023.9): "1.00 KiB", size(1 << 30): "1.00 GiB", count(-1234567): "-1,234,567", count(100): "100",
		rate(999.999): "1000.00", rate(2070.7): "2,071", factor(7.69): "7.69x", factor(15.75): "15.8x", factor(212.4): "212x",
		quantity(2.5e6, "ns"): "2.50 ms", quantity(10, "1"): "10", quantity(3, "1/s"): "3.00/s", quantity(1536, "bytes"): "1.50 KiB",
		shortFunction("github.com/a/b/store.(*Store[int]).Get"): "store.(*Store[int]).Get", shortFunction("f[github.com/a/b.T]"): "f[github.com/a/b.T]",
		shortFile("/src/a/b.go"): "a/b.go", shortFile("b.go"): "b.go",
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
		once := clean(s)
		if twice := clean(once); twice != once {
			t.Errorf("clean is not stable: %q then %q", once, twice)
		}
		for _, r := range once {
			if r < ' ' || r == 0x7f {
				t.Errorf("control character in %q", once)
			}
		}
	})
}
