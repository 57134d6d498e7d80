package cpu_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
)

// The page that error-pages before v2.5.0 parses in each request: appending into a buffer is no remedy.
func TestTemplateParsedPerRequest(t *testing.T) {
	parse := []string{"text/template/parse.lexText", "text/template/parse.Parse", "text/template.(*Template).Parse", "shop/tpl.Render@render.go:54"}
	found := Expect(t, cpu.Format, Healthy().Sample(4*s, parse...), "cpu-format at render.go:54")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, "once") || strings.Contains(found[0].Remedy, "strconv")) {
		t.Errorf("a template parsed per request is to be parsed once: %s", found[0].Remedy)
	}
	execute := []string{"text/template.(*state).walk", "text/template.(*Template).Execute", "shop/tpl.Render@render.go:60"}
	found = Expect(t, cpu.Format, Healthy().Sample(4*s, execute...), "cpu-format at render.go:60")
	if len(found) == 1 && strings.Contains(found[0].Remedy, "Parse the template") {
		t.Errorf("a template that is only executed is said to be parsed: %s", found[0].Remedy)
	}
}
