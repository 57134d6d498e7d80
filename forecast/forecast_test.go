package forecast

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// growing is 60 days of hourly load: a day's and a week's season, and growth of
// 20/s a day around 3,000/s.
func growing() (out []Point) {
	for i := range 60 * 24 {
		day := math.Sin(2*math.Pi*float64(i%24)/24) * 400
		week := 0.0
		if i/24%7 >= 5 {
			week = -300
		}
		wobble := 40 * math.Sin(float64(i*i%977))
		out = append(out, Point{monday.Add(time.Duration(i) * time.Hour), 3000 + 20*float64(i)/24 + day + week + wobble})
	}
	return out
}

func asked(t *testing.T, q Question) *Answer {
	t.Helper()
	a, err := Ask(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestReaches: with daily peaks 400/s above a level that grows by 20/s a day, 5,200/s is
// reached on the 90th day.
func TestReaches(t *testing.T) {
	g, err := Regular(growing(), GridOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := asked(t, Question{Grid: g, Unit: "/s", Source: "test", Limit: 5200, LimitOf: "the knee", Seed: 1})
	if len(a.Seasons) != 2 || a.Seasons[0] != 86400 || a.Seasons[1] != 7*86400 {
		t.Errorf("seasons of %v", a.Seasons)
	}
	want := monday.AddDate(0, 0, 90)
	if r := a.Reach; r.Middle == nil || r.Middle.Sub(want).Abs() > 4*24*time.Hour || r.Early.After(*r.Middle) ||
		r.Already != 0 {
		t.Errorf("reached at %v, want about %v", r.Middle, want)
	}
	if s := a.Sentence(); !strings.HasPrefix(s, "reaches the knee (5,200/s) on ") || !strings.Contains(s, "(80 %: ") {
		t.Error(s)
	}
	var text, plain, markdown strings.Builder
	if Text(&text, a, TextOptions{}) != nil || Text(&plain, a, TextOptions{Plain: true}) != nil || Markdown(&markdown,
		a) != nil {
		t.Fatal("not written")
	}
	if !strings.Contains(text.String(), "█") || !strings.Contains(text.String(), "░") || !strings.Contains(text.String(),
		"the seasonal naive") {
		t.Error(text.String())
	}
	if !strings.Contains(text.String(), "  │ ") || !strings.Contains(text.String(), "steps of 1h from") {
		t.Errorf("the chart lost its spaces, or steps their length:\n%s", text.String())
	}
	micro := *a
	micro.Unit = "ns"
	if Text(&plain, &micro, TextOptions{Plain: true}) != nil || !strings.Contains(plain.String(), "5.20 us") ||
		strings.ContainsFunc(plain.String(), func(r rune) bool { return r > 126 }) {
		t.Error(plain.String())
	}
	if !strings.Contains(markdown.String(), "| seasonal naive |") {
		t.Error(markdown.String())
	}
	var out strings.Builder
	var read Answer
	if err := JSON(&out, a); err != nil || json.Unmarshal([]byte(out.String()), &read) != nil ||
		len(read.Middle) != len(a.Middle) {
		t.Errorf("%v: %d steps", err, len(read.Middle))
	}
}

// TestHolidays: load that halves on holidays halves on the next one as well, and they do not
// disturb the season.
func TestHolidays(t *testing.T) {
	points := growing()
	var holidays []time.Time
	for _, day := range []int{10, 31, 45, 63} {
		holidays = append(holidays, monday.AddDate(0, 0, day))
		for i := day * 24; i < (day+1)*24 && i < len(points); i++ {
			points[i].Value /= 2
		}
	}
	g, err := Regular(points, GridOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := asked(t, Question{Grid: g, Horizon: 7 * 24 * time.Hour, Holidays: holidays, Seed: 1})
	if math.Abs(a.HolidayFactor-0.5) > 0.02 {
		t.Errorf("holidays are %.3f of other days", a.HolidayFactor)
	}
	noon := 3*24 + 12
	if ratio := a.Middle[noon] / a.Middle[noon-24]; math.Abs(ratio-0.5) > 0.05 {
		t.Errorf("on the holiday to come %.3f of the day before", ratio)
	}
}

// TestRegular: disorder, repetition, gaps, zeros and rows of the same step.
func TestRegular(t *testing.T) {
	at := func(minutes int, v float64) Point { return Point{monday.Add(time.Duration(minutes) * time.Minute), v} }
	points := []Point{at(120, 3), at(0, 1), at(60, 2), at(60, 9), at(240, 0), at(300, math.NaN()), at(360, 7), at(390, 5)}
	g, err := Regular(points, GridOptions{Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(g.Values), "[1 9 3 NaN 0 NaN 7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, want := range []string{"not in order of time", "1 row without a value", "1 row at the same time", "1 value of 0 (",
		"2 steps of 7"} {
		if !strings.Contains(strings.Join(g.Remarks, "; "), want) {
			t.Errorf("no remark %q in %q", want, g.Remarks)
		}
	}
	g, err = Regular(points, GridOptions{Step: time.Hour, By: ByMean, ZeroIsGap: true})
	if got, want := fmt.Sprint(g.Values), "[1 9 3 NaN NaN NaN 6]"; err != nil || got != want {
		t.Errorf("%s, want %s: %v", got, want, err)
	}
}

// TestTooShort: each is a sentence, and told apart from input that is wrong.
func TestTooShort(t *testing.T) {
	for n, short := range map[int]bool{0: true, 1: true, 5: true, 40: false} {
		g, err := Regular(growing()[:n], GridOptions{})
		if err == nil {
			_, err = Ask(Question{Grid: g})
		}
		if short != (err != nil) || short != Short(err) {
			t.Errorf("%d points: %v", n, err)
		}
	}
	constant := growing()[:60]
	for i := range constant {
		constant[i].Value = 7
	}
	g, _ := Regular(constant, GridOptions{})
	if a, err := Ask(Question{Grid: g, Limit: 8}); err != nil && !Short(err) || err == nil && a.Reach.Middle != nil {
		t.Errorf("a constant history: %v", err)
	}
}

func TestReadCSV(t *testing.T) {
	for text, want := range map[string]string{
		"time,value\n2026-01-05 00:00,5\n2026-01-05T01:00:00Z,\n":     "[{0 5} {3600 NaN}]",
		"2026-01-05,1\n2026-01-06,2.5e3\n":                            "[{0 1} {86400 2500}]",
		"host;ds;qps\na;1767571200;3\n# remark\nb;1767571260000;NA\n": "[{0 3} {60 NaN}]",
		"\ufefftimestamp\tlatency\n2026-01-05 02:00:00+01:00\t4\n":    "[{3600 4}]",
		"\ufeff\"time\",\"value\"\n\"2026-01-05\",\"1\"\n":            "[{0 1}]",
		"value,time\n1,2026-01-05\n":                                  "[{0 1}]",
		"":                                                            "[]",
		"a,b\n1,2\n":                                                  "neither a header",
		"time,a,b\n2026-01-05,1,2\n":                                  "no column",
		"time,value\nyesterday,1\n":                                   "line 2: \"yesterday\" is not a time",
		"time,value\n2026-01-05,1\n2026-01-06,many\n":                 "line 3: \"many\" is not a number",
		"time,value\n2026-01-05\n":                                    "line 2: 1 fields",
		"time,value\n2026-01-05,Inf\n":                                "not a number",
		"time,value\n0005-01-05,1\n":                                  "between 1970",
	} {
		points, err := ReadCSV(strings.NewReader(text), "")
		got := fmt.Sprint(err)
		if err == nil {
			var all []string
			for _, p := range points {
				all = append(all, fmt.Sprintf("{%v %v}", p.Time.Sub(monday).Seconds(), p.Value))
			}
			got = fmt.Sprint(all)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if p, err := ReadCSV(strings.NewReader("time,a,b\n2026-01-05,1,2\n"), "B"); err != nil || p[0].Value != 2 {
		t.Errorf("a named column: %v, %v", p, err)
	}
}

// FuzzReadCSV: whatever a file holds, points are finite in time and values, or there is an
// error, and no panic up to the answer.
func FuzzReadCSV(f *testing.F) {
	f.Add("time,value\n2026-01-05 00:00,5\n2026-01-05T01:00:00Z,\n")
	f.Add("1767571200\t3\n1767571260\t1e308\n1767571320\t-1e308\n")
	f.Add("ds;y\n2026-01-05;0\n2026-01-05;0\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		points, err := ReadCSV(strings.NewReader(text), "")
		if err != nil {
			return
		}
		for _, p := range points {
			if p.Time.Before(earliest) || p.Time.After(latest) || math.IsInf(p.Value, 0) {
				t.Fatalf("%v", p)
			}
		}
		g, err := Regular(points, GridOptions{})
		if err != nil || len(g.Values) > 300 {
			return
		}
		a, err := Ask(Question{Grid: g, Limit: 1})
		if err != nil {
			return
		}
		if err := Text(io.Discard, a, TextOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestQuery asks a server that answers as Prometheus does.
func TestQuery(t *testing.T) {
	body, status := "", http.StatusOK
	var seen *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer server.Close()
	withUser := strings.Replace(server.URL, "http://", "http://ann:s3cret@", 1)
	r := Range{URL: withUser + "/prom", Query: "sum(rate(x[5m]))", From: monday, To: monday.Add(2 * time.Hour),
		Step: time.Hour}
	body = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1767571200,"1.5"],[1767574800.5,"NaN"]]}]}}`
	points, err := Query(t.Context(), r)
	if err != nil || len(points) != 2 || points[0] != (Point{monday, 1.5}) || !math.IsNaN(points[1].Value) {
		t.Fatalf("%v, %v", points, err)
	}
	q := seen.URL.Query()
	if user, _, _ := seen.BasicAuth(); seen.URL.Path != "/prom/api/v1/query_range" || q.Get("query") != r.Query ||
		q.Get("step") != "3600" ||
		q.Get("start") != "1767571200.000" || user != "ann" {
		t.Errorf("asked %s", seen.URL)
	}
	for answer, want := range map[string]string{
		`{"status":"error","error":"parse error"}`: "parse error",
		`<html>`: "without a reply of its API",
		`{"status":"success","data":{"resultType":"matrix","result":[]}}`:                       "no series",
		`{"status":"success","data":{"resultType":"matrix","result":[{},{}]}}`:                  "2 series",
		`{"status":"success","data":{"resultType":"matrix","result":[{"values":[["x","1"]]}]}}`: "not a time",
		strings.Repeat(" ", mostAnswer+1):                                                       "larger than 8 MB",
	} {
		body, status = answer, http.StatusBadRequest
		if _, err := Query(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.40q: %v, want %q", answer, err, want)
		}
	}
	server.Close()
	if _, err := Query(t.Context(), r); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("with nobody there: %v", err)
	}
	r.Step = time.Second
	r.To = r.From.Add(24 * time.Hour)
	if _, err := Query(t.Context(), r); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("too many points: %v", err)
	}
}

// TestQueryGivesUp: a Prometheus that takes the request and never answers does not hold redline forever.
func TestQueryGivesUp(t *testing.T) {
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer server.Close()
	defer close(silent)
	defer func(before time.Duration) { client.Timeout = before }(client.Timeout)
	if client.Timeout == 0 {
		t.Fatal("it waits forever")
	}
	client.Timeout = 10 * time.Millisecond
	var late net.Error
	_, err := Query(t.Context(), Range{URL: server.URL, Query: "up", From: monday, To: monday.Add(time.Hour), Step: time.Minute})
	if !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("%v", err)
	}
}

func TestReadHolidays(t *testing.T) {
	days, err := ReadHolidays(strings.NewReader("# Germany\n2026-12-25 Christmas\n\n2026-12-26,\n2026-12-27,Sunday\n2026-12-28\tMonday\n" +
		"2026-12-29;Tuesday\n"))
	if err != nil || len(days) != 5 || days[1].Day() != 26 || days[4].Day() != 29 {
		t.Errorf("%v, %v", days, err)
	}
	if _, err := ReadHolidays(strings.NewReader("2026-12-25\nEaster\n")); err == nil || !strings.Contains(err.Error(),
		"line 2") {
		t.Error(err)
	}
	if _, err := ReadHolidays(strings.NewReader(strings.Repeat("2026-12-25\n", mostHolidays+1))); err == nil ||
		errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
