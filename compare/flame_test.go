package compare

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
)

// profiled makes a run of which total takes so much CPU, below render.
func profiled(t *testing.T, total, other time.Duration, callers ...string) *record.Record {
	t.Helper()
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).CPU(2, 1, 0.5, 0.2, -1).
		Sample(total, append([]string{"shop/price.total@price.go:7"}, callers...)...).
		Sample(other, "shop/web.render@web.go:3").Open(t)
	return rec
}

func (f *Frame) find(name string) *Frame {
	if f.Function == name {
		return f
	}
	for _, callee := range f.Callees {
		if found := callee.find(name); found != nil {
			return found
		}
	}
	return nil
}

func TestProfiles(t *testing.T) {
	const web = "shop/web.render@web.go:3"
	f, err := Profiles(profiled(t, time.Second, time.Second, web), profiled(t, 4*time.Second, time.Second, web))
	if err != nil {
		t.Fatal(err)
	}
	total, render := f.Root.find("shop/price.total"), f.Root.find("shop/web.render")
	if total == nil || render == nil || render.find("shop/price.total") == nil || f.difference(total) <= 0 {
		t.Fatalf("total, which costs more below render: %+v, %+v", total, render)
	}
	for side := range 2 {
		sum := 0.0
		for _, callee := range f.Root.Callees {
			sum += callee.Cost[side]
		}
		if f.Root.Cost[side] <= 0 || math.Abs(sum-f.Root.Cost[side]) > 1e-6*sum || render.Cost[side] < total.Cost[side] {
			t.Errorf("side %d: all costs %v, its callees %v, render %v, total %v", side, f.Root.Cost[side], sum,
				render.Cost[side], total.Cost[side])
		}
	}
	same, err := Profiles(profiled(t, time.Second, time.Second), profiled(t, time.Second, time.Second))
	if err != nil || same.difference(same.Root) != 0 {
		t.Errorf("a run beside its like differs by %v, %v", same.difference(same.Root), err)
	}
	none, _ := diagnosetest.New(16, 10*time.Millisecond).CPU(2, 1, 0.5, 0.2, -1).Open(t)
	if _, err := Profiles(none, none); err == nil || !strings.Contains(err.Error(), "--build") {
		t.Errorf("without profiles: %v", err)
	}
}

// TestFlameHTML: the page asks for nothing from the network, names both costs,
// and what a profile holds cannot become markup.
func TestFlameHTML(t *testing.T) {
	const evil = `shop/x.<script>alert(1)</script>"onclick=x@x.go:1`
	var page bytes.Buffer
	if err := WriteFlame(&page, profiled(t, time.Second, time.Second, evil), profiled(t, 4*time.Second, time.Second, evil)); err != nil {
		t.Fatal(err)
	}
	html := page.String()
	if regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import`).MatchString(html) {
		t.Error("the page loads something")
	}
	if strings.Contains(html, "<script>alert") || strings.Count(html, "<script") != 1 || strings.Contains(html, "ZgotmplZ") {
		t.Errorf("a function's name became markup, or a style was refused:\n%s", html)
	}
	box := regexp.MustCompile(
		`<button type="button" class="more" style="--y:\d+;--la:[\d.]+;--wa:0\.\d+;--lb:[\d.]+;--wb:0\.\d+;--d:0\.\d+" ` +
			`title="shop/price\.total\nCPU per request: a [^"]+, b [^"]+; [^"]+%">shop/price\.total</button>`)
	if !box.MatchString(html) {
		t.Errorf("total is not shown as dearer with both costs:\n%s", html[strings.Index(html, `id="graph"`):])
	}
}

// TestFlameIsBounded: stacks of any depth and number of functions fit.
func TestFlameIsBounded(t *testing.T) {
	deep := make([]code.Frame, 10*deepestFrame)
	for i := range deep {
		deep[i].Function = strings.Repeat("f", i%7+1)
	}
	f := &Frame{}
	f.add(0, deep, 1)
	f.add(1, deep[:3], 1)
	f.prune([2]float64{leastFrame, leastFrame})
	depth := 0
	for at := f; len(at.Callees) > 0; at = at.Callees[0] {
		depth++
	}
	if depth > deepestFrame {
		t.Errorf("%d frames deep", depth)
	}
}
