package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
)

// validate checks a request.
func (r *Request) validate(p *Plan) error {
	if r.Name == "" {
		return errors.New("it has no name")
	}
	if r.Weight < 1 {
		return fmt.Errorf("weight %d is not above 0", r.Weight)
	}
	if err := protocol.CheckTarget(string(r.URL)); err != nil {
		return err
	}
	if protocol.IsHTTP(protocol.Of(r.URL, "")) {
		if _, err := protocol.CheckMethod(r.Method); err != nil {
			return err
		}
	}
	if _, err := feeder.CompileURL(r.URL, p.Data); err != nil {
		return err
	}
	if err := r.validateHeaders(p); err != nil {
		return err
	}
	if err := r.validateChecks(p); err != nil {
		return err
	}
	_, err := feeder.CompileTemplate(r.Body, p.Data)
	return err
}

// SetHeader sets a header. fromEnv says that its value holds a variable of the
// environment, so that Redacted hides it.
func (r *Request) SetHeader(name string, value Secret, fromEnv bool) {
	if r.Headers == nil {
		r.Headers = map[string]Secret{}
	}
	r.Headers[name] = value
	if !fromEnv {
		return
	}
	if r.fromEnv == nil {
		r.fromEnv = map[string]bool{}
	}
	r.fromEnv[name] = true
}

func (r *Request) validateHeaders(p *Plan) error {
	for name, value := range r.Headers {
		if _, err := protocol.CheckHeader(name); err != nil {
			return err
		}
		if strings.ContainsAny(string(value), "\r\n\x00") {
			return fmt.Errorf("header %s holds a line break", name)
		}
		if _, err := feeder.CompileHeader(feeder.Template(value), p.Data); err != nil {
			return fmt.Errorf("header %s: its value has a placeholder that no feeder fills", name) // without the value
		}
	}
	return nil
}

func (r *Request) validateChecks(p *Plan) error {
	if len(r.Checks) > MaxChecks {
		return fmt.Errorf("%d checks, at most %d are allowed", len(r.Checks), MaxChecks)
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Name == "" {
			c.Name = c.Describe()
		}
		err := c.Validate()
		if err == nil {
			err = c.validateText(p)
		}
		if err != nil {
			return fmt.Errorf("check %d (%s): %w", i+1, c.Name, err)
		}
		if slices.ContainsFunc(r.Checks[:i], func(other Check) bool { return other.Name == c.Name }) {
			return fmt.Errorf("check %d: its name %q is taken", i+1, c.Name)
		}
	}
	return nil
}

// validateFor checks that a protocol has the features that the request uses.
func (r *Request) validateFor(p protocol.Name) error {
	message := p == protocol.WebSocket || p == protocol.TCP
	switch {
	case r.Follow && !protocol.IsHTTP(p):
		return mistake.Conflictf("follow", "leave it out", "there are no redirects in %s", p)
	case r.Follow && r.Expect >= 300 && r.Expect < 400:
		return mistake.Conflictf("follow", "keep one", "a redirect is followed, so it cannot be the expected status")
	case r.NoReply && !message:
		return mistake.Conflictf("reply", "leave it out", "a request of %s is always answered", p)
	case r.NoReply && len(r.Checks) > 0:
		return mistake.Conflictf("checks", "leave them out", "there is no answer to check without a reply")
	case p == protocol.TCP && len(r.Checks) > 0:
		return mistake.Conflictf("checks", "leave them out", "an answer over TCP is the echo of the message and compared with it already")
	case p == protocol.TCP && len(r.Headers) > 0:
		return mistake.Conflictf("headers", "leave them out", "there are no headers in TCP")
	case message && r.Body == "":
		return mistake.Conflictf("message", "add message (--data on the command line)", "there is no message to send")
	}
	if p == protocol.RPC && !protocol.ValidMessage(string(r.Body)) {
		return mistake.Conflictf("message", `write it as '{"id": 7}'`, "the message is not a JSON object or a list of them")
	}
	if r.Expect != 0 {
		if err := protocol.CheckStatus(r.Expect, p); err != nil {
			return mistake.AtKey("expect", err)
		}
	}
	for i := range r.Checks {
		if err := r.Checks[i].validateFor(p); err != nil {
			return mistake.AtKey("checks", err)
		}
	}
	return nil
}
