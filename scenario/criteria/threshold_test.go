package criteria

import "testing"

func TestThreshold(t *testing.T) {
	values := map[string]float64{"p99": 41e6, "errors": 0.002, "rate": 5}
	metric := func(name string) (float64, bool) { v, ok := values[name]; return v, ok }
	for expr, want := range map[string]bool{
		"p99 < 42ms": true, "p99<41ms": false, "p99 <= 41ms": true, "errors < 0.1%": false, "errors <= 0.002": true,
		"rate > 300/m": false, "rate >= 5": true, "p50 < 1h": false, "requests >= 0": false,
	} {
		th, err := ParseThreshold(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		ok, value := th.Check(metric)
		if ok != want {
			t.Errorf("%s: %v with %+v", expr, ok, th)
		}
		if _, known := values[th.Metric]; known != (value != nil) {
			t.Errorf("%s: value %v", expr, value)
		}
	}
}
