package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

// newSet makes a set of checks, which must be valid.
func newSet(t testing.TB, checks ...scenario.Check) *Set {
	t.Helper()
	s, err := New(scenario.Request{Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChecks(t *testing.T) {
	const document = `{"id": 9007199254740993, "name": "Ann", "ok": true, "none": null, "price": 1.50,
		"items": [{"id": 1, "tag": "<a>"}, {"id": 2}], "a b": {"z": 1, "y": [1, 2]}}`
	is := func(s string) *string { return &s }
	tests := []struct {
		check scenario.Check
		holds bool
	}{
		{scenario.Check{Status: []int{200, 201}}, true},
		{scenario.Check{Status: []int{201}}, false},

		{scenario.Check{Header: "content-type"}, true},
		{scenario.Check{Header: "CONTENT-TYPE", Equals: is("application/json")}, true},
		{scenario.Check{Header: "Content-Type", Contains: "json"}, true},
		{scenario.Check{Header: "Content-Type", Contains: "JSON"}, false},
		{scenario.Check{Header: "Content-Type", Equals: is("json")}, false},
		{scenario.Check{Header: "X-Two", Equals: is("second")}, true},
		{scenario.Check{Header: "X-Empty"}, true},
		{scenario.Check{Header: "X-Empty", Equals: is("")}, true},
		{scenario.Check{Header: "X-Missing"}, false},
		{scenario.Check{Header: "X-Missing", Equals: is("")}, false},

		{scenario.Check{Body: true, Contains: `"Ann"`}, true},
		{scenario.Check{Body: true, Contains: "Bob"}, false},
		{scenario.Check{Body: true, Equals: is(document)}, true},
		{scenario.Check{Body: true, Equals: is("")}, false},

		{scenario.Check{JSON: "$.name"}, true},
		{scenario.Check{JSON: "$.missing"}, false},
		{scenario.Check{JSON: "$.none"}, true},
		{scenario.Check{JSON: "$.none", Equals: is("null")}, true},
		{scenario.Check{JSON: "$.name", Equals: is("Ann")}, true},
		{scenario.Check{JSON: "$.name", Equals: is(`"Ann"`)}, false},
		{scenario.Check{JSON: "$.name", Contains: "nn"}, true},
		{scenario.Check{JSON: "$.ok", Equals: is("true")}, true},
		{scenario.Check{JSON: "$.id", Equals: is("9007199254740993")}, true},
		{scenario.Check{JSON: "$.id", Equals: is("9007199254740992")}, false},
		{scenario.Check{JSON: "$.price", Equals: is("1.50")}, true},
		{scenario.Check{JSON: "$.items[1].id", Equals: is("2")}, true},
		{scenario.Check{JSON: "$.items[*].id", Equals: is("2")}, true},
		{scenario.Check{JSON: "$.items[-1].id", Equals: is("1")}, false},
		{scenario.Check{JSON: "$..tag", Equals: is("<a>")}, true},
		{scenario.Check{JSON: "$.items[0]", Equals: is(`{"id":1,"tag":"<a>"}`)}, true},
		{scenario.Check{JSON: "$.items[?@.id > 1].id", Equals: is("2")}, true},
		{scenario.Check{JSON: "$['a b']", Equals: is(`{"y":[1,2],"z":1}`)}, true},
	}
	for _, pieces := range []int{1, 7, len(document)} {
		var a Answer
		for _, test := range tests {
			s := newSet(t, test.check)
			// An interim answer with other content comes first.
			a.Begin(s)
			a.Header([]byte("X-Missing"), []byte("interim"))
			a.Begin(s)
			for _, line := range []string{"Content-Type:application/json", "x-two:first", "x-two:second", "x-empty:"} {
				name, value, _ := strings.Cut(line, ":")
				a.Header([]byte(name), []byte(value))
			}
			for rest := []byte(document); len(rest) > 0; {
				n := min(pieces, len(rest))
				a.Body(rest[:n])
				rest = rest[n:]
			}
			if failed, long := a.End(200); (failed == 0) != test.holds || failed > 1 || long {
				t.Errorf("%+v: failed %b, long %v, want it to hold: %v", test.check, failed, long, test.holds)
			}
		}
	}
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	s := newSet(t, scenario.Check{JSON: "$"}, scenario.Check{JSON: "$.a"}, scenario.Check{Status: []int{200}})
	for _, body := range []string{"", "{", `{"a":1} x`, `{"a":1}{"a":2}`, "<html>", strings.Repeat("[", 20_000)} {
		var a Answer
		a.Begin(s)
		a.Body([]byte(body))
		if failed, _ := a.End(200); failed != 0b011 {
			t.Errorf("%.20q: failed %b", body, failed)
		}
	}
}

// TestLongBodies: a text is found wherever a long body has it, also across two parts that are searched one after the other, and no
// more of the body is kept. A JSONPath needs all of it.
func TestLongBodies(t *testing.T) {
	s := newSet(t, scenario.Check{Body: true, Contains: "needle"}, scenario.Check{Status: []int{200}}, scenario.Check{JSON: "$"},
		scenario.Check{Body: true, Equals: new(string)})
	const hay = maxBody / 16
	var a Answer
	for _, test := range []struct {
		at, size int // of the text; -1 is nowhere
		failed   uint64
	}{{-1, 16 * hay, 0b1101}, {-1, 50 * hay, 0b1101}, {0, 50 * hay, 0b1100}, {maxBody - 3, 50 * hay, 0b1100},
		{2*maxBody - 9, 50 * hay, 0b1100}, {50*hay - 6, 50 * hay, 0b1100}, {0, hay, 0b1100}} {
		body := bytes.Repeat([]byte("x"), test.size)
		if test.at >= 0 {
			copy(body[test.at:], "needle")
		}
		for _, piece := range []int{len(body), 3000, 2 * maxBody} {
			a.Begin(s)
			for part := range slices.Chunk(body, piece) {
				a.Body(part)
			}
			failed, long := a.End(200)
			if failed != test.failed || long != (test.size > maxBody) || cap(a.body) > 2*maxBody {
				t.Errorf("%+v in pieces of %d: failed %b, long %v, %d bytes held", test, piece, failed, long, cap(a.body))
			}
		}
	}
	if a.Begin(s); cap(a.body) > keepBody {
		t.Errorf("%d bytes are kept for the next answer", cap(a.body))
	}
}

func TestEveryBit(t *testing.T) {
	var checks []scenario.Check
	for i := range most {
		checks = append(checks, scenario.Check{Name: fmt.Sprint(i), Status: []int{200 + i%2}})
	}
	var a Answer
	a.Begin(newSet(t, checks...))
	if failed, _ := a.End(200); failed != 0xaaaaaaaaaaaaaaaa {
		t.Errorf("failed %x", failed)
	}
}

func TestMistakes(t *testing.T) {
	if s, err := New(scenario.Request{}); s != nil || err != nil {
		t.Errorf("no checks: %v, %v", s, err)
	}
	empty := ""
	for want, checks := range map[string][]scenario.Check{
		"looks at 0":         {{Name: "it"}},
		"looks at 2":         {{Name: "it", Status: []int{200}, Body: true, Contains: "x"}},
		"exclude each other": {{Name: "it", Body: true, Contains: "x", Equals: &empty}},
		"contains or equals": {{Name: "it", Body: true}},
		"one of a list":      {{Name: "it", Status: []int{200}, Contains: "x"}},
		"is not a JSONPath":  {{Name: "it", JSON: "$["}},
		"65 checks":          make([]scenario.Check, 65),
	} {
		if _, err := New(scenario.Request{Checks: checks}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to say %q", err, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	if loadtest.Race {
		t.Skip("the race detector is on, and allocates itself")
	}
	equal := "x"
	s := newSet(t, scenario.Check{Status: []int{200}}, scenario.Check{Header: "A", Contains: "b"},
		scenario.Check{Body: true, Contains: "{"},
		scenario.Check{JSON: "$.a[-1].b", Equals: &equal}, scenario.Check{JSON: "$.a[0]"})
	var a Answer
	name, value, body := []byte("a"), []byte("abc"), []byte(`{"c": [], "a": [1, {"b": "x"}]}`)
	if n := testing.AllocsPerRun(100, func() {
		a.Begin(s)
		a.Header(name, value)
		a.Body(body)
		if failed, _ := a.End(200); failed != 0 {
			t.Error(failed)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// paths select at most one value and are walked without decoding.
var paths = []string{"$", "$.a", "$.a.b", "$.a[0]", "$.a[-1]", "$.a[-2].b", "$['\u00fc']", "$.b[1][1]", "$['\ufffd']"}

// FuzzWalk compares the walk with the library's selection.
func FuzzWalk(f *testing.F) {
	for _, doc := range []string{
		` {"a":[1,{"b":"x"}]} `, `{"a":1,"a":{"b":[ ]}}`, `{"\u0061":{"b" : null }}`, `[[[[`, `"\ud800"`, `{"a":[{"b":"\"}"},2.50]}`,
		`{"ü":1e999}`, "{\"\xff\":{}}", `{"b":[0,[0,{"z":1,"y":"<"}]]}`, ``, `1`, `{"a":[]}`, `{"a":{}}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			return
		}
		for _, path := range paths {
			p, err := newPath(path)
			if err != nil || !p.plain {
				t.Fatalf("%s is not walked (%v)", path, err)
			}
			want := p.query.Select(decode(doc))
			raw, ok := walk(doc, p.steps)
			if ok != (len(want) == 1) {
				t.Fatalf("%s in %q: found %v, want %v", path, doc, ok, want)
			}
			if ok && string(rawText(raw)) != string(text(want[0])) {
				t.Fatalf("%s in %q: %q, want %q", path, doc, rawText(raw), text(want[0]))
			}
		}
	})
}

// FuzzAnswer checks that the division of a body into pieces makes no difference, whatever it is.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{`{"a":[1,{"b":"x"}]}`, `[[[[`, `"\ud800"`, "1e999999", ""} {
		f.Add([]byte(body), uint8(3))
	}
	s := newSet(f, scenario.Check{JSON: "$..b", Contains: "x"}, scenario.Check{JSON: "$.a[?@ > 0]"},
		scenario.Check{Body: true, Contains: "x"})
	f.Fuzz(func(t *testing.T, body []byte, piece uint8) {
		var whole, pieces Answer
		whole.Begin(s)
		whole.Body(body)
		want, _ := whole.End(200)
		pieces.Begin(s)
		for rest := body; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			pieces.Body(rest[:n])
			rest = rest[n:]
		}
		if got, _ := pieces.End(200); got != want {
			t.Errorf("in pieces of %d %b, in one %b", piece+1, got, want)
		}
	})
}
