package cpu_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record/findings"
)

// TestMostInALibrarysCall: a call of a dependency that sorts, hashes, formats and allocates has most of the CPU, called from several
// places, and no part of it is most. It is named where the service spends most on it, unless one domain has most of it.
func TestMostInALibrarysCall(t *testing.T) {
	const sum, labels, content = "github.com/prints/marks.Sum", "shop/alerts.Labels@alert.go:53", "shop/alerts.Content@alert.go:58"
	calls := func(encodes time.Duration) *Builder {
		b := Healthy()
		for _, inner := range []string{"sort.Sort", "crypto/sha1.Sum", "runtime.mallocgc", "github.com/prints/marks.write"} {
			b.Sample(3*s, inner, sum, labels, "shop/alerts.Less@alert.go:90", "sort.insertionSort", "shop/alerts.List@list.go:9")
			b.Sample(s, inner, sum, content)
		}
		return b.Sample(encodes, "encoding/json.Marshal", sum, content)
	}
	for _, f := range Expect(t, cpu.Hot, calls(s), "cpu-hot-function at alert.go:53") {
		if !strings.HasPrefix(f.Title, "marks.Sum takes") || !strings.Contains(f.Title, "and 1 other like it") ||
			f.Confidence != findings.Low {
			t.Errorf("%s, %s confidence", f.Title, f.Confidence)
		}
	}
	Expect(t, cpu.Hot, calls(40*s))
	// The service's own function does the same.
	own := func(b *Builder, each time.Duration, inner ...string) *Builder {
		for _, f := range inner {
			b.Sample(each, f, "shop/calendar.Year@year.go:571", "shop/calendar.Days@days.go:9", "shop/web.render@render.go:119")
		}
		return b
	}
	all := own(Healthy(), 5*s, "sort.Sort", "runtime.mallocgc", "regexp.(*Regexp).MatchString")
	found := Expect(t, cpu.Hot, all, "cpu-hot-function at year.go:571")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "calendar.Year takes") || found[0].Confidence != findings.Low) {
		t.Errorf("%s, %s confidence", found[0].Title, found[0].Confidence)
	}
	handles := Healthy()
	for _, f := range []string{"sort.Sort", "runtime.mallocgc", "regexp.(*Regexp).MatchString"} { // for each request, below a middleware
		handles.Sample(5*s, f, "shop/web.show@show.go:14", "shop/web.auth.func1@auth.go:41", "shop/web.(*router).ServeHTTP@router.go:28")
	}
	Expect(t, cpu.Hot, handles)
	messages := func(scheme string) *Builder {
		b := Healthy().Scheme(scheme)
		for _, f := range []string{"sort.Sort", "runtime.mallocgc", "regexp.(*Regexp).MatchString"} {
			b.Sample(5*s, f, "shop/chat.onMessage@chat.go:97", "shop/chat.serve@chat.go:241")
		}
		return b
	}
	Expect(t, cpu.Hot, messages("http"), "cpu-hot-function at chat.go:97")
	Expect(t, cpu.Hot, messages("ws")) // for each message, which is the request
	// What it encodes is another finding. The rest is one function's, spread over small ones.
	parts := Healthy().Sample(8*s, "encoding/json.Marshal", "shop/calendar.Days@days.go:12", "shop/web.render@render.go:119")
	for i, f := range []string{"moon", "week", "fast", "feast", "leap"} {
		own(parts, 2*s, "shop/calendar."+f+"@part.go:"+strconv.Itoa(10*i))
	}
	found = Expect(t, cpu.Hot, parts, "cpu-hot-function at year.go:571")
	if len(found) == 1 && !strings.HasPrefix(found[0].Title, "calendar.Year takes") {
		t.Error(found[0].Title)
	}
	Expect(t, cpu.Hot, own(Healthy(), 9*s, "sort.Sort", "runtime.mallocgc", "sort.Sort"))        // it sorts
	Expect(t, cpu.Hot, own(Healthy(), 9*s, "sort.Sort", "runtime.mallocgc", "runtime.mallocgc")) // it allocates
	Expect(t, cpu.Hot, Healthy().Sample(s, "github.com/prints/marks.write", sum, labels))        // little of it
}

// An object that a library makes for each request is named where it is made, whatever its CPU goes
// into; the advice is to cache it, because the caller cannot give its maps a size.
func TestMadeByALibraryForEachRequest(t *testing.T) {
	const lib, at = "github.com/rules/schema.", "shop/web.check@web.go:58"
	call := func(b *Builder, d time.Duration, inner ...string) *Builder {
		return b.Sample(d, append(inner, lib+"newValidator", lib+"(*Schema).Visit", lib+"Validate", at)...)
	}
	compiles := func(first string) *Builder {
		b := call(Healthy(), 3*s, "runtime.mapassign_faststr", lib+"(*roots).add", lib+first)
		call(b, 2*s, "runtime.mallocgc", lib+"(*queue).push", lib+first)
		return call(b, s, lib+"walk", "encoding/json.Marshal")
	}
	found := Expect(t, cpu.Hot, compiles("(*Compiler).Compile"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.(*Compiler).Compile") ||
		!strings.Contains(found[0].Remedy, "cache it")) {
		t.Errorf("the compiler is not named: %s; %s", found[0].Title, found[0].Remedy)
	}
	// Whoever keeps what is compiled may keep what else the call makes of it: one sixth more.
	if len(found) == 1 && (found[0].GainHigh < 1.24 || found[0].GainLow > found[0].GainCeiling) {
		t.Errorf("worth %.2fx, %.2fx to %.2fx", found[0].GainCeiling, found[0].GainLow, found[0].GainHigh)
	}
	Expect(t, cpu.Map, compiles("(*Compiler).Compile"))
	// Without a step that makes something below it, what is made is the validator.
	found = Expect(t, cpu.Hot, compiles("visit"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.newValidator") || found[0].Confidence != findings.Low) {
		t.Errorf("a constructor's input may be the request's: %s, %s", found[0].Title, found[0].Confidence)
	}
	// Parsing is a step of the compiling.
	found = Expect(t, cpu.Hot, call(Healthy(), 6*s, lib+"next", lib+"parse", lib+"compile"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && !strings.Contains(found[0].Title, "schema.compile") {
		t.Errorf("a part of the compiling is named: %s", found[0].Title)
	}
	// A function that only reads its arguments makes nothing, nor does one that makes its buffer and continues.
	for _, f := range []string{"newlines", "newBufferAndExecute"} {
		reads := Healthy().Sample(6*s, "runtime.mapaccess1_faststr", lib+"(*rule).holds", lib+f, lib+"Validate", at)
		Expect(t, cpu.Map, reads)
		found = Expect(t, cpu.Hot, reads, "cpu-hot-function at web.go:58")
		if len(found) == 1 && (!strings.Contains(found[0].Title, "web.check takes") ||
			!strings.Contains(found[0].Title, "most of it in schema.(*rule).holds")) {
			t.Errorf("the maps are the library's: %s; %s", found[0].Title, found[0].Remedy)
		}
	}
	// A domain's own analyzer knows more of it.
	Expect(t, cpu.Hot, call(Healthy(), 6*s, "regexp/syntax.Parse", "regexp.compile", lib+"(*Compiler).Compile"))
}

// A page that is searched by several expressions compiles each at another line, as htmlquery's did: each
// is a little, and keeping what is compiled saves all of them. The parser takes more at one line, but
// has to read the page.
func TestCompiledAtManyLines(t *testing.T) {
	const page, lib = "shop/web.page@page.go:", "github.com/rules/path."
	searches := func(d time.Duration, step string, lines int) *Builder {
		b := Healthy().Sample(4*s, "github.com/net/html.(*parser).parse", "github.com/net/html.Parse", page+"20")
		for i := range lines {
			line := page + strconv.Itoa(30+i)
			b.Sample(d/time.Duration(lines)/2, "runtime.mallocgc", lib+"(*parser).step", lib+step, lib+"Find", line)
			b.Sample(d/time.Duration(lines)/2, lib+"(*parser).next", lib+step, lib+"Find", line)
			b.Sample(d/time.Duration(lines)/4, lib+"(*query).Select", lib+"Find", line)
		}
		return b
	}
	found := Expect(t, cpu.Hot, searches(3*s, "Compile", 6), "cpu-hot-function at page.go:30", "cpu-hot-function at page.go:20")
	if len(found) == 2 && (!strings.Contains(found[0].Title, "path.Compile") || !strings.Contains(found[0].Title, "and 5 others") ||
		found[0].Confidence == findings.Low) {
		t.Errorf("%s, %s", found[0].Title, found[0].Confidence)
	}
	// Compiling belongs in no request, so a little of it is named; not what a comparison could not show.
	Expect(t, cpu.Hot, searches(3*s/2, "Compile", 6), "cpu-hot-function at page.go:20", "cpu-hot-function at page.go:30")
	Expect(t, cpu.Hot, searches(s/2, "Compile", 6), "cpu-hot-function at page.go:20")
	// What is parsed may be the request's own.
	Expect(t, cpu.Hot, searches(3*s, "Parse", 6), "cpu-hot-function at page.go:20")
}

// TestCompiledAsOneStepOfSeveral: gopher-lua parses a script, compiles it and runs it in one call, and no step has most of
// it. Compiling belongs in no request even so, nor does the parsing for it; what has to be done besides lowers the confidence.
func TestCompiledAsOneStepOfSeveral(t *testing.T) {
	const lib, at = "github.com/rules/script.", "shop/web.quote@web.go:58"
	do := []string{lib + "(*State).DoString", at}
	runs := func(compiler string, outer ...string) *Builder {
		b := Healthy().Sample(3*s, append([]string{lib + "(*vm).loop", lib + "run"}, do...)...)
		b.Sample(3*s/2, append(append([]string{lib + "(*lexer).next", lib + "yyParse", lib + "Parse"}, outer...), do...)...)
		return b.Sample(3*s/2, append(append([]string{"runtime.mallocgc", lib + "(*code).add", lib + compiler}, outer...), do...)...)
	}
	named := func(b *Builder, want string, sure findings.Confidence) {
		t.Helper()
		found := Expect(t, cpu.Hot, b, "cpu-hot-function at web.go:58", "cpu-hot-function at web.go:58")
		if len(found) == 2 && !slices.ContainsFunc(found, func(f findings.Finding) bool {
			return strings.HasPrefix(f.Title, want+" takes") && f.Confidence == sure
		}) {
			t.Errorf("%s is not named: %s; %s", want, found[0].Title, found[1].Title)
		}
	}
	named(runs("Compile"), "script.Compile", findings.Medium)
	named(runs("Compile", lib+"(*State).Load"), "script.(*State).Load", findings.High)
	found := Expect(t, cpu.Hot, runs("encode"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && !strings.Contains(found[0].Title, "script.run") {
		t.Errorf("steps of a library: %s", found[0].Title)
	}
	// Together two steps have most of it.
	two := Healthy().Sample(2*s, append([]string{lib + "(*vm).loop", lib + "run"}, do...)...).
		Sample(5*s/2, append([]string{lib + "(*lexer).next", lib + "read"}, do...)...).Sample(s, append([]string{lib + "check"}, do...)...)
	found = Expect(t, cpu.Hot, two, "cpu-hot-function at web.go:58")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "cache the results of script.read and script.run") {
		t.Errorf("steps of a library: %s", found[0].Remedy)
	}
}

// What opens and what closes a file has no result to keep: the open file has.
func TestOpenedForEachRequest(t *testing.T) {
	const lib, at = "github.com/geo/files.", "shop/web.lookup@web.go:58"
	for _, open := range []float64{1, 3} {
		b := Healthy().Sample(3*s, "syscall.munmap", lib+"(*Reader).Close", at).
			Sample(2*s, lib+"(*Reader).decode", lib+"(*Reader).Lookup", at).
			Sample(time.Duration(open*float64(s)), "syscall.mmap", lib+"Open", at).Sample(s, "shop/web.page@web.go:60")
		found := Expect(t, cpu.Hot, b, "cpu-hot-function at web.go:58")
		if len(found) == 1 && !strings.Contains(found[0].Remedy, "Open it once and keep it") {
			t.Error(found[0].Remedy)
		}
	}
}

// A page that asks a library for each of its settings divides its time among the library's functions, as one
// that used viper did. A function that divides its time among its own helpers is named alone.
func TestCallsOfALibrary(t *testing.T) {
	asks := func(pkg string) *Builder {
		return Healthy().Sample(2*s, "runtime.mapaccess1_faststr", pkg+"find", pkg+"GetString", "shop/web.page@web.go:58").
			Sample(2*s, "runtime.mapaccess1_faststr", pkg+"find", pkg+"GetInt", "shop/web.page@web.go:59").
			Sample(s, "shop/web.page@web.go:60")
	}
	found := Expect(t, cpu.Hot, asks("github.com/kept/settings."), "cpu-hot-function at web.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "most of it in settings.GetInt and settings.GetString") ||
		!strings.Contains(found[0].Remedy, "cache the results of")) {
		t.Errorf("%s; %s", found[0].Title, found[0].Remedy)
	}
	// What has a cause of its own is not the calls'.
	found = Expect(t, cpu.Hot, Healthy().Sample(6*s, "shop/web.page@web.go:58").
		Sample(7*s, "encoding/json.Marshal", "github.com/kept/web.(*Context).JSON", "shop/web.page@web.go:61"),
		"cpu-hot-function at web.go:58")
	if len(found) == 1 && strings.Contains(found[0].Title, "JSON") {
		t.Errorf("%s", found[0].Title)
	}
	// Not calling it also saves what it formats and allocates meanwhile.
	more := Expect(t, cpu.Hot, asks("github.com/kept/settings.").
		Sample(2*s, "fmt.Sprint", "github.com/kept/settings.GetInt", "shop/web.page@web.go:59").
		Sample(2*s, "fmt.Sprint", "github.com/kept/settings.GetString", "shop/web.page@web.go:58"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && len(more) == 1 && (more[0].Share < found[0].Share+0.05 || more[0].GainCeiling < found[0].GainCeiling) {
		t.Errorf("%.2f of the CPU and %.2fx, with formatting %.2f and %.2fx", found[0].Share, found[0].GainCeiling,
			more[0].Share, more[0].GainCeiling)
	}
	// Nor is time.LoadLocation, which reads and parses a file, a helper of its caller's.
	found = Expect(t, cpu.Hot, Healthy().Sample(5*s, "time.LoadLocationFromTZData", "time.LoadLocation", "shop/web.zone@web.go:16"),
		"cpu-hot-function at web.go:16")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "most of it in time.LoadLocation") ||
		!strings.Contains(found[0].Remedy, "cache the result of time.LoadLocation")) {
		t.Errorf("%s; %s", found[0].Title, found[0].Remedy)
	}
	found = Expect(t, cpu.Hot, Healthy().Sample(2*s, "strings.Index", "shop/web.page@web.go:58").
		Sample(2*s, "strings.Count", "shop/web.page@web.go:59").Sample(s, "shop/web.page@web.go:60"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && strings.Contains(found[0].Title, "most of it") {
		t.Errorf("%s", found[0].Title)
	}
}

// What a library makes for one call and names after it cannot be kept. What it does then is named.
func TestMadeForOneCall(t *testing.T) {
	executes := func(maker string) *Builder {
		const lib, at = "github.com/pages/tpl.", "shop/web.page@web.go:58"
		return Healthy().Sample(4*s, "runtime.mapassign_faststr", lib+"Context.Update", lib+maker, lib+"Execute", at).
			Sample(2*s, lib+"(*Node).run", lib+maker, lib+"Execute", at)
	}
	Expect(t, cpu.Hot, executes("newScheme"), "cpu-hot-function at web.go:58")
	found := Expect(t, cpu.Hot, executes("newContextForExecution"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && !strings.Contains(found[0].Title, "most of it in tpl.Context.Update") {
		t.Errorf("%s", found[0].Title)
	}
}

// A model that the service validates for each request costs a third of its CPU, spread over
// functions none of which is hot, as openfga's was. Its maker is named at the line that calls it.
func TestMadeByTheServiceForEachRequest(t *testing.T) {
	const resolve, check = "shop/model.resolve@resolver.go:85", "shop/api.(*Server).Check@api.go:40"
	add := (*Builder).Sample
	makes := func(d time.Duration, maker string, outer ...string) *Builder {
		b := Healthy()
		for i, f := range []string{"hasCycle", "entrypoints", "relations", "tuplesets"} {
			inner := []string{"shop/model.(*Model)." + f + "@model.go:" + strconv.Itoa(100+i)}
			if i%2 == 0 {
				inner = append([]string{"runtime.mapassign_faststr"}, inner...)
			}
			add(b, d/4, append(append(inner, maker), outer...)...)
		}
		return b
	}
	found := Expect(t, cpu.Hot, makes(5*s, "shop/model.NewAndValidate@model.go:20", resolve, check), "cpu-hot-function at resolver.go:85")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "model.NewAndValidate") || found[0].Confidence != findings.Low ||
		!strings.Contains(found[0].Remedy, "cache it")) {
		t.Errorf("%s, %s: %s", found[0].Title, found[0].Confidence, found[0].Remedy)
	}
	// Requests share what a singleflight group returns: it is not the request's own.
	group := []string{"shop/model.load.func1@resolver.go:85", "golang.org/x/sync/singleflight.(*Group).doCall",
		"golang.org/x/sync/singleflight.(*Group).Do", "shop/model.load@resolver.go:80", check}
	found = Expect(t, cpu.Hot, makes(5*s, "shop/model.NewAndValidate@model.go:20", group...), "cpu-hot-function at resolver.go:85")
	if len(found) == 1 && found[0].Confidence != findings.Medium {
		t.Errorf("shared by requests: %s", found[0].Confidence)
	}
	// Removing it would not be worth 1.3x.
	Expect(t, cpu.Hot, makes(2*s, "shop/model.NewAndValidate@model.go:20", resolve, check))
	// Objects of the request itself, by name or as its handler, and names that only begin with the word.
	for _, maker := range []string{"shop/model.parseRequest@model.go:20", "shop/model.newReply@model.go:20",
		"shop/model.NewAndServe@model.go:20", "shop/model.newest@model.go:20", "shop/model.visit@model.go:20",
		"shop/model.NewTool.func1@model.go:20", "shop/model.NewTool[...].func2.1@model.go:20"} {
		Expect(t, cpu.Hot, makes(5*s, maker, resolve, check))
	}
	Expect(t, cpu.Hot, makes(5*s, "shop/api.NewOrder@model.go:20")) // a handler
	// What a function decodes is new, and so is what it then validates; what it makes from that may come again.
	decodes := func(maker string) *Builder {
		return makes(5*s, maker, resolve, check).Sample(s, "encoding/json.(*decodeState).object", "encoding/json.(*Decoder).Decode", check)
	}
	Expect(t, cpu.Hot, decodes("shop/model.Line.Validate@model.go:20"))
	Expect(t, cpu.Hot, decodes("shop/model.NewAndValidate@model.go:20"), "cpu-hot-function at resolver.go:85")
	Expect(t, cpu.Hot, makes(5*s, "shop/model.Line.Validate@model.go:20", resolve, check).
		Sample(s, "encoding/json.(*encodeState).marshal", "encoding/json.Marshal", check), "cpu-hot-function at resolver.go:85")
	// A domain's own analyzer knows more of it, and a goroutine that no request waits for is no request's.
	Expect(t, cpu.Hot, Healthy().Sample(5*s, "encoding/json.Unmarshal", "shop/model.ParseModel@model.go:20", resolve, check))
	// Its own lines match, format and sort: those are what to change, whatever it makes. Below other functions of the
	// service the same work is spread.
	lines := func(through ...string) *Builder {
		b := Healthy()
		for i, f := range []string{"regexp.(*Regexp).ReplaceAllString", "fmt.Sprintf", "sort.Strings"} {
			at := "shop/model.ParseModel@model.go:" + strconv.Itoa(20+i)
			b.Sample(5*s/3, append(append([]string{f}, through...), at, resolve, check)...)
		}
		return b
	}
	Expect(t, cpu.Hot, lines())
	Expect(t, cpu.Hot, lines("shop/model.part@model.go:90"), "cpu-hot-function at resolver.go:85")
	add = (*Builder).Background
	Expect(t, cpu.Hot, makes(5*s, "shop/model.NewModel@model.go:20", resolve))
}

// JSON that a helper decodes for a function which parses something: its outcome can be kept, where a
// faster decoder only makes it cheaper. skipper's predicates each parsed the same token again.
func TestOutcomeOfWhatADomainDoes(t *testing.T) {
	decodes := func(outer ...string) *Builder {
		return Healthy().Sample(8*s, append([]string{"encoding/json.(*decodeState).object", "encoding/json.Unmarshal",
			"shop/jwt.decode@token.go:38"}, outer...)...)
	}
	const parse = "shop/jwt.Parse@token.go:20"
	const match, handle = "shop/auth.(*predicate).Match@jwt.go:148", "shop/web.(*Server).Route@web.go:9"
	for name, c := range map[string]struct {
		b    *Builder
		want bool
	}{"a token": {decodes(parse, match, handle), true}, "a body": {decodes("shop/web.parseBody@web.go:20", handle), false},
		"a handler": {decodes(handle), false}} {
		found := Expect(t, cpu.JSON, c.b, "cpu-json at token.go:38")
		if len(found) == 1 && strings.Contains(found[0].Remedy, "cache its result") != c.want {
			t.Errorf("%s: %s", name, found[0].Remedy)
		}
		const who = "most of it for jwt.Parse, called by auth.(*predicate).Match (jwt.go:148)"
		if c.want && !strings.Contains(fmt.Sprint(found[0].Evidence), who) {
			t.Errorf("%s: %+v", name, found[0].Evidence)
		}
	}
}

// A pattern from a list that the service makes anew for each path: whoever makes the list may keep it, with all else that making it
// does (gobgp).
func TestOutcomeOfWhatIsCompiled(t *testing.T) {
	const parse, list, loop = "shop/policy.ParseOne@policy.go:12", "shop/policy.NewSet@policy.go:30", "shop/table.Import@table.go:70"
	b := Healthy().Sample(4*s, "regexp/syntax.Parse", "regexp.Compile", parse, list, loop).
		Sample(4*s, "strings.Split", list, loop)
	found := Expect(t, cpu.RegexpCompile, b, "cpu-regexp-compile at policy.go:12")
	if len(found) != 1 || !(found[0].GainHigh > 1.1*found[0].GainLow) ||
		!strings.Contains(fmt.Sprint(found[0].Evidence), "most of it for policy.NewSet, called by table.Import (table.go:70)") {
		t.Errorf("%+v", found)
	}
}

// TestLargestStep: a function that only calls one step after another is not what takes the CPU; its largest step is.
func TestLargestStep(t *testing.T) {
	const answer, serve = "shop/web.answer@web.go:90", "shop/web.serve@web.go:71"
	b := New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1).Sample(s, "shop/web.auth@web.go:4", "shop/web.serve@web.go:70")
	for i := range 5 {
		at := "@page.go:" + strconv.Itoa(10*i)
		b.Sample(1300*time.Millisecond, "shop/page.part"+strconv.Itoa(i)+at, "shop/page.Read@page.go:90", answer, serve)
	}
	for i := range 3 {
		at := "@fetch.go:" + strconv.Itoa(10*i)
		b.Sample(1300*time.Millisecond, "shop/page.fetch"+strconv.Itoa(i)+at, "shop/page.Fetch@fetch.go:90", answer, serve)
	}
	Expect(t, cpu.Hot, b, "cpu-hot-function at page.go:90")
}

// TestStepsInTurn: two functions of which each calls the other, in different requests, are followed to an end.
func TestStepsInTurn(t *testing.T) {
	b := New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1)
	for i := range 5 {
		leaf := "shop/page.part" + strconv.Itoa(i) + "@page.go:" + strconv.Itoa(10*i)
		b.Sample(s, leaf, "shop/page.Read@page.go:90", "shop/page.Walk@walk.go:90", "shop/web.serve@web.go:71")
		b.Sample(s, leaf, "shop/page.Walk@walk.go:91", "shop/page.Read@page.go:91", "shop/web.serve@web.go:72")
	}
	Expect(t, cpu.Hot, b, "cpu-hot-function")
}
