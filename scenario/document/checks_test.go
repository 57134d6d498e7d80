package document

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

func TestChecks(t *testing.T) {
	p := mustPlan(t, `
requests:
  - get: http://127.0.0.1:8080/
    checks:
      - {status: 200}
      - {status: [200, 204], name: fine}
      - {header: content-type}
      - {header: Content-Type, contains: json}
      - {body: {contains: '"ok"'}}
      - {body: {equals: pong}}
      - {json: "$.items[0].id", equals: 7}
      - {json: "$.next", equals: null}
      - {json: $.items}
redact: [X-Mine]
`)
	text := func(s string) *string { return &s }
	want := []scenario.Check{
		{Name: "status is 200", Status: []int{200}}, {Name: "fine", Status: []int{200, 204}},
		{Name: "header Content-Type is there", Header: "Content-Type"},
		{Name: "header Content-Type contains json", Header: "Content-Type", Contains: "json"},
		{Name: `body contains "ok"`, Body: true, Contains: `"ok"`}, {Name: "body is pong", Body: true, Equals: text("pong")},
		{Name: "$.items[0].id is 7", JSON: "$.items[0].id", Equals: text("7")},
		{Name: "$.next is null", JSON: "$.next", Equals: text("null")},
		{Name: "$.items is there", JSON: "$.items"},
	}
	if got := p.Requests[0].Checks; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCheckErrors(t *testing.T) {
	many := strings.Repeat("{status: 200},", scenario.MaxChecks+1)
	for text, want := range map[string]string{
		"{}":                               "checks none of status",
		"{status: 200, body: {equals: x}}": "exclude each other",
		"{status: 200, equals: x}":         "contains and equals are for header and json",
		"{body: {equals: x, contains: y}}": "exclude each other",
		"{body: {}}":                       "needs contains or equals",
		"{body: ok}":                       "body is text",
		"{contains: x}":                    "checks none of status",
		"{json: items}":                    "is not a JSONPath",
		"{json: '$.a[?', equals: 1}":       "is not a JSONPath",
		"{json: $.a, equals: {b: 1}}":      "equals is a mapping",
		"{status: [200, x]}":               "is not a number",
		"{status: NOT_FOND}":               "did you mean",
		"{status: []}":                     "the list is empty",
		"{header: 'a b'}":                  "cannot be the name of a header",
		"{status: 200}, {status: 200}":     "is there already",
		"{status: 20}":                     "not a status of HTTP",
		many:                               "64 are allowed",
		"{stauts: 200}":                    `did you mean "status"`,
		"{json: $." + strings.Repeat("a", 1000) + "}": "over 1000 bytes",
	} {
		_, err := plan(t, fmt.Sprintf("requests: [{get: 'http://h/', checks: [%s]}]", text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.yaml:1:") {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// A check's text is compared as it stands: a placeholder in it, which all answers would fail, is refused.
func TestCheckWithPlaceholder(t *testing.T) {
	const of = "data: {n: {sequence: {from: 1, to: 9}}}\nrequests: [{get: 'http://h/?n={{n}}', checks: [{body: {contains: '%s'}}]}]"
	if _, err := plan(t, fmt.Sprintf(of, "id {{n}}.")); err == nil || !strings.Contains(err.Error(), "{{n}} is not filled in checks") {
		t.Errorf("a placeholder: %v", err)
	}
	if _, err := plan(t, fmt.Sprintf(of, "{{name}}")); err != nil {
		t.Errorf("text in braces: %v", err)
	}
}

// TestChecksHideSecrets looks at what reports and the record show of checks.
func TestChecksHideSecrets(t *testing.T) {
	p := mustPlan(t, `
requests:
  - get: http://127.0.0.1:8080/
    checks:
      - {body: {contains: '"token": "hunter2"'}}
      - {header: X-Auth-Token, equals: hunter2}
      - {header: X-Mine, equals: hunter2, name: mine hunter2}
redact: [X-Mine]
`)
	if text := string(p.Redacted()); strings.Contains(text, "hunter2") {
		t.Errorf("recorded: %s", text)
	}
	for _, c := range p.Requests[0].Checks[:2] {
		if strings.Contains(c.Name, "hunter2") {
			t.Errorf("named: %s", c.Name)
		}
	}
}
