package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/theory/jsonpath" // RFC 9535, by its test suite

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
)

// MaxChecks is how many checks a request may have: the mask of failed ones is one
// machine word.
const MaxChecks = 64

// ParsePath checks a JSONPath (RFC 9535) of at most 1,000 bytes and returns it as
// it is.
func ParsePath(text string) (string, error) {
	if len(text) > 1000 {
		return "", mistake.Newf("", "the JSONPath is over 1000 bytes")
	}
	if _, err := jsonpath.Parse(text); err != nil {
		return "", mistake.Newf("write it as $.items[0].id (RFC 9535)", "%.60q is not a JSONPath: %v", text, err)
	}
	return text, nil
}

// CheckHint shows the forms of a check.
const CheckHint = "write {status: 200}, {header: Content-Type, contains: json}, {body: {contains: ok}} or {json: $.id, equals: 7}"

// Validate checks that the check looks at one thing, and how.
func (c *Check) Validate() error {
	subjects := 0
	for _, set := range []bool{len(c.Status) > 0, c.Header != "", c.Body, c.JSON != ""} {
		if set {
			subjects++
		}
	}
	how := 0
	for _, set := range []bool{c.Contains != "", c.Equals != nil} {
		if set {
			how++
		}
	}
	switch {
	case subjects == 0:
		return mistake.Newf(CheckHint, "it checks none of status, header, body and json")
	case subjects > 1:
		return mistake.Newf("make it two checks", "status, header, body and json exclude each other")
	case how > 1:
		return mistake.Newf("make it two checks", "contains and equals exclude each other")
	case how > 0 && len(c.Status) > 0:
		return mistake.Newf(CheckHint, "contains and equals do not apply to a status")
	case how == 0 && c.Body:
		return mistake.Newf("write {body: {contains: ok}}", "a check of the body needs contains or equals")
	}
	if c.JSON != "" {
		_, err := ParsePath(c.JSON)
		return err
	}
	return nil
}

// validateText refuses a placeholder that a feeder of the plan would fill in a request: a check's text is
// compared as it stands, so such a check fails for every answer. Other braces are text.
func (c *Check) validateText(p *Plan) error {
	text := c.Contains
	if c.Equals != nil {
		text = *c.Equals
	}
	for _, placeholder := range feeder.Placeholder.FindAllString(text, -1) {
		if filled, err := feeder.CompileTemplate(feeder.Template(placeholder), p.Data); err == nil && !filled.Static() {
			return mistake.Newf("check for a text that all answers have in common",
				"%s is not filled in checks, only in requests", placeholder)
		}
	}
	return nil
}

// validateFor checks that answers of a protocol have the part that the check examines.
func (c *Check) validateFor(p protocol.Name) error {
	for _, status := range c.Status {
		if err := protocol.CheckStatus(status, p); err != nil {
			return err
		}
	}
	if c.Header != "" && p == protocol.WebSocket {
		return mistake.Newf("check the body instead", "the answers of %s have no headers", p)
	}
	return nil
}

// Describe is the name of a check that was given none.
func (c *Check) Describe() string {
	subject := "body"
	switch {
	case len(c.Status) > 0:
		var all []string
		for _, s := range c.Status {
			all = append(all, strconv.Itoa(s))
		}
		return "status is " + strings.Join(all, " or ")
	case c.Header != "":
		subject = "header " + c.Header
	case c.JSON != "":
		subject = c.JSON
	}
	hide := redact.Text
	if c.Header != "" && (&Plan{}).SecretHeader(c.Header) {
		hide = func(string) string { return redact.Mark }
	}
	switch {
	case c.Contains != "":
		return shortened(fmt.Sprintf("%s contains %s", subject, hide(c.Contains)))
	case c.Equals != nil:
		return shortened(fmt.Sprintf("%s is %s", subject, hide(*c.Equals)))
	}
	return shortened(subject + " is there")
}

// shortened fits a text into a line of a report.
func shortened(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// texts are the texts that the answer is compared with.
func (c Check) texts() []string {
	if c.Equals != nil {
		return []string{c.Contains, *c.Equals}
	}
	return []string{c.Contains}
}

// redacted hides secrets in a check.
func (c Check) redacted(by *redact.Redactor) Check {
	hide := by.Text
	if c.Header != "" && by.Secret(c.Header) {
		hide = func(string) string { return redact.Mark }
		c.Name = "header " + c.Header
	}
	c.Name, c.JSON = by.Text(c.Name), by.Text(c.JSON)
	if c.Contains != "" {
		c.Contains = hide(c.Contains)
	}
	if c.Equals != nil {
		text := hide(*c.Equals)
		c.Equals = &text
	}
	return c
}
