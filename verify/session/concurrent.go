package session

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/service/port"
)

// listens matches the names of variables and flags in which a bare number is a
// port.
var listens = regexp.MustCompile(`(?i)port|addr|listen|bind|^-[lp]$`)

// numbers finds possible ports, each with the host before it if there is one.
var numbers = regexp.MustCompile(`(?:(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9._-]*):)?([0-9]+)`)

// concurrent returns the plan with its service at another port of the same host, so
// that it can run alongside the first: in the requests' URLs, readiness, arguments
// and environment. An address that cannot be moved is an error that says why.
//
// Only certain matches of the address are moved; otherwise the two sides could
// differ in more than their ports. Certain are the port after one of this machine's
// hosts or after none, and a bare number if the name of its variable or flag
// identifies it.
func concurrent(plan *scenario.Plan, port string) (*scenario.Plan, error) {
	if plan.Load.Open() {
		// During warm-up both would have it at once: a load that one could sustain
		// built up a queue that the turns inherited, with a p90 of 300 ms instead of
		// 1 ms.
		return nil, errors.New("the load has a fixed rate, which both at once may not sustain")
	}
	// Someone else started it, and it cannot be started twice.
	if plan.Target.PID != 0 {
		return nil, errors.New("the target is already running")
	}
	u, err := url.Parse(beforeTemplate(plan.Requests[0].URL))
	if err != nil || u.Port() == "" {
		return nil, errors.New("the requests' URL names no port")
	}
	m := mover{host: u.Hostname(), from: u.Port(), to: port}
	out := *plan
	out.Requests = slices.Clone(plan.Requests)
	for i, q := range out.Requests {
		other, err := url.Parse(beforeTemplate(q.URL))
		if err != nil || other.Host != u.Host {
			return nil, errors.New("the requests go to several addresses")
		}
		out.Requests[i].URL = feeder.Template(strings.Replace(string(q.URL), u.Host, net.JoinHostPort(m.host, port), 1))
	}
	out.Target.Ready = m.move(plan.Target.Ready, false)
	moved := false
	words := func(list []string, first int) []string {
		list = slices.Clone(list)
		for i, word := range list {
			// The command itself is not an address, whatever its name.
			if i < first {
				continue
			}
			name, _, assigned := strings.Cut(word, "=")
			if !assigned && i > 0 {
				name = list[i-1]
			}
			list[i] = m.move(word, listens.MatchString(name))
			moved = moved || list[i] != word
		}
		return list
	}
	out.Target.Exec, out.Target.Args = words(plan.Target.Exec, 1), words(plan.Target.Args, 0)
	out.Target.Env = maps.Clone(plan.Target.Env)
	for name, value := range out.Target.Env {
		out.Target.Env[name] = m.move(value, listens.MatchString(name))
		moved = moved || out.Target.Env[name] != value
	}
	// The second copy would listen at the first one's port, or fail.
	if !moved {
		return nil, fmt.Errorf("neither the target's arguments nor its environment name its port, %s", m.from)
	}
	return &out, nil
}

// beforeTemplate is the part of a URL that is the same for all requests.
func beforeTemplate(t feeder.Template) string {
	text, _, _ := strings.Cut(string(t), "{{")
	return text
}

// mover replaces a service's port.
type mover struct{ host, from, to string }

// move returns the text with the port replaced. bare means that a bare number is
// known to be a port.
func (m mover) move(text string, bare bool) string {
	var out strings.Builder
	last := 0
	for _, at := range numbers.FindAllStringSubmatchIndex(text, -1) {
		begin, end := at[4], at[5]
		if text[begin:end] != m.from || !ends(text[end:]) {
			continue
		}
		if at[2] >= 0 {
			if !m.here(text[at[2]:at[3]]) {
				continue
			}
		} else if !bare || end < len(text) || begin > 0 && text[begin-1] != '=' {
			continue
		}
		out.WriteString(text[last:begin])
		out.WriteString(m.to)
		last = end
	}
	return out.String() + text[last:]
}

// ends reports whether a number ends before the rest of its text.
func ends(rest string) bool {
	return rest == "" || !strings.ContainsRune("._-", rune(rest[0])) && !unicode.IsLetter(rune(rest[0]))
}

// here reports whether a host before a port is a name by which the service may call
// this machine.
func (m mover) here(host string) bool {
	host = strings.Trim(host, "[]")
	if host == "" || host == "localhost" || host == m.host {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (a.IsLoopback() || a.IsUnspecified())
}

// freePort returns a port of the plan's host that this process may give to a service.
func freePort(plan *scenario.Plan) (string, error) {
	u, err := url.Parse(beforeTemplate(plan.Requests[0].URL))
	if err != nil {
		return "", err
	}
	address, err := port.Reserve(u.Hostname())
	if err != nil {
		return "", err
	}
	_, number, err := net.SplitHostPort(address)
	if number == u.Port() {
		return "", errors.New("the only free port is the service's own")
	}
	return number, err
}
