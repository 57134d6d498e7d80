package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// atRequest completes the place of a conflict, whose at is a key of a request.
func atRequest(index int, err error) error {
	var c *conflict
	if !errors.As(err, &c) {
		return err
	}
	return &conflict{c.mistake, requestSection(index) + "." + c.at}
}

// validate checks a request.
func (r *Request) validate(p *Plan) error {
	if r.Name == "" {
		return errors.New("it has no name")
	}
	if r.Weight < 1 {
		return fmt.Errorf("weight %d is not above 0", r.Weight)
	}
	if err := checkTarget(string(r.URL)); err != nil {
		return err
	}
	if isHTTP(protocolOf(r.URL, "")) {
		if _, err := checkMethod(r.Method); err != nil {
			return err
		}
	}
	if _, err := CompileURL(r.URL, p); err != nil {
		return err
	}
	if err := r.validateHeaders(p); err != nil {
		return err
	}
	if err := r.validateChecks(); err != nil {
		return err
	}
	_, err := CompileTemplate(r.Body, p)
	return err
}

func (r *Request) validateHeaders(p *Plan) error {
	for name, value := range r.Headers {
		if _, err := checkHeaderName(name); err != nil {
			return err
		}
		if strings.ContainsAny(string(value), "\r\n\x00") {
			return fmt.Errorf("header %s holds a line break", name)
		}
		if _, err := CompileHeader(Template(value), p); err != nil {
			return fmt.Errorf("header %s: its value has a place that no feeder fills", name) // without the value
		}
	}
	return nil
}

func (r *Request) validateChecks() error {
	if len(r.Checks) > MaxChecks {
		return fmt.Errorf("%d checks, at most %d are allowed", len(r.Checks), MaxChecks)
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Name == "" {
			c.Name = c.describe()
		}
		if err := c.validate(); err != nil {
			return fmt.Errorf("check %d (%s): %w", i+1, c.Name, err)
		}
		if slices.ContainsFunc(r.Checks[:i], func(other Check) bool { return other.Name == c.Name }) {
			return fmt.Errorf("check %d: its name %q is taken", i+1, c.Name)
		}
	}
	return nil
}

// validateFor checks that a protocol has the features that the request uses.
func (r *Request) validateFor(p Protocol) error {
	message := p == WebSocket || p == TCP
	switch {
	case r.Follow && !isHTTP(p):
		return conflictf("follow", "leave it out", "there are no redirects in %s", p)
	case r.Follow && r.Expect >= 300 && r.Expect < 400:
		return conflictf("follow", "keep one", "a redirect is followed, so it cannot be the expected status")
	case r.NoReply && !message:
		return conflictf("reply", "leave it out", "a request of %s is always answered", p)
	case r.NoReply && len(r.Checks) > 0:
		return conflictf("checks", "leave them out", "there is no answer to check without a reply")
	case p == TCP && len(r.Checks) > 0:
		return conflictf("checks", "leave them out", "an answer over TCP is the echo of the message and compared with it already")
	case p == TCP && len(r.Headers) > 0:
		return conflictf("headers", "leave them out", "there are no headers in TCP")
	case message && r.Body == "":
		return conflictf("message", "add message (--data on the command line)", "there is no message to send")
	}
	if p == RPC && !validMessage(string(r.Body)) {
		return conflictf("message", `write it as '{"id": 7}'`, "the message is not a JSON object or a list of them")
	}
	if r.Expect != 0 {
		if err := checkStatus(r.Expect, p); err != nil {
			return atKey("expect", err)
		}
	}
	for i := range r.Checks {
		if err := r.Checks[i].validateFor(p); err != nil {
			return atKey("checks", err)
		}
	}
	return nil
}

// atKey places a mistake at a key.
func atKey(key string, err error) error {
	var m *mistake
	if !errors.As(err, &m) {
		return err
	}
	return &conflict{*m, key}
}
