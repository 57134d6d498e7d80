package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/tune"
)

// Bounds of requests to a target about its knobs.
const (
	liveTimeout = 5 * time.Second
	mostReply   = 64 << 10
)

// admin talks to a target about its live knobs.
type admin struct {
	client *http.Client
	hosts  []string // allowed in addition to loopback

	mu  sync.Mutex
	had map[int]string // of the current trial: values that the target kept, by knob
}

func newAdmin(hosts []string) *admin {
	return &admin{hosts: hosts, had: map[int]string{}, client: &http.Client{
		Timeout: liveTimeout,
		// No proxy and no redirect: a value goes only to the given address.
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// address completes a knob's URL with the host that the load goes to, and refuses hosts that must
// not be contacted.
func (a *admin) address(plan *scenario.Plan, text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%s is not a URL", redact.Text(text))
	}
	if u.Host == "" {
		base, _, _ := strings.Cut(string(plan.Requests[0].URL), "{{")
		of, err := url.Parse(base)
		if err != nil || of.Scheme != "http" && of.Scheme != "https" || of.Host == "" {
			return "", errors.New("a path needs a load over http, whose host it belongs to " +
				"(hint: http:PUT http://127.0.0.1:8081/path?name={}=...)")
		}
		u.Scheme, u.Host = of.Scheme, of.Host
	}
	if host := u.Hostname(); !loopback(host) && !slices.Contains(a.hosts, host) {
		return "", fmt.Errorf("%s is not this machine: settings are changed on loopback only (hint: --allow-host %s)", host, host)
	}
	return u.String(), nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// do makes a request and returns the body of a successful reply.
func (a *admin) do(ctx context.Context, method, address, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	switch {
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		request.Header.Set("Content-Type", "application/json")
	case strings.Contains(body, "="):
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	reply, err := a.client.Do(request)
	if err != nil {
		return nil, errors.New(redact.Text(err.Error()))
	}
	defer reply.Body.Close()
	if reply.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s answers %s", method, redact.Text(address), reply.Status)
	}
	return io.ReadAll(io.LimitReader(reply.Body, mostReply))
}

// set gives a knob a value, and returns the target's value afterwards; "" if the target
// does not report it.
func (a *admin) set(ctx context.Context, plan *scenario.Plan, k tune.Knob, value string) (has string, err error) {
	r := k.Request
	put, body := strings.Replace(r.URL, "{}", url.QueryEscape(value), 1), strings.Replace(r.Body, "{}", value, 1)
	address, err := a.address(plan, put)
	if err != nil {
		return "", err
	}
	if _, err := a.do(ctx, r.Method, address, body); err != nil {
		return "", fmt.Errorf("%s was not set: %w", k.Name, err)
	}
	has, _, err = a.read(ctx, plan, k)
	return has, err
}

// read returns the value that the target reports for a knob; false if it reports
// none.
func (a *admin) read(ctx context.Context, plan *scenario.Plan, k tune.Knob) (string, bool, error) {
	address, err := a.address(plan, k.Request.Read())
	if err != nil {
		return "", false, err
	}
	body, err := a.do(ctx, http.MethodGet, address, "")
	if err != nil {
		return "", false, ctx.Err() // a target need not offer that
	}
	value, ok := k.Request.Answer(body)
	return value, ok, nil
}

// ReadLive returns the values of a running target's live knobs, by name. A knob without a value is an
// error: an unknown value cannot be restored.
func ReadLive(ctx context.Context, plan *scenario.Plan, knobs []tune.Knob, hosts []string) (map[string]string, error) {
	a, out := newAdmin(hosts), map[string]string{}
	for _, k := range knobs {
		if k.Request == nil {
			continue
		}
		value, ok, err := a.read(ctx, plan, k)
		if err != nil {
			return nil, fmt.Errorf("knob %q: %w", k.Name, err)
		}
		if !ok {
			return nil, fmt.Errorf("knob %q: GET %s does not return its value, so that it could not be restored (hint: let redline launch "+
				"the target, with --build or --exec)", k.Name, redact.Text(k.Request.Read()))
		}
		out[k.Name] = value
	}
	return out, nil
}

// CheckLive refuses live knobs that would change settings of another machine.
func CheckLive(plan *scenario.Plan, knobs []tune.Knob, hosts []string) error {
	a := newAdmin(hosts)
	for _, k := range knobs {
		if k.Request == nil {
			continue
		}
		if _, err := a.address(plan, k.Request.Read()); err != nil {
			return fmt.Errorf("knob %q: %w", k.Name, err)
		}
	}
	return nil
}

// ignored notes a knob whose value the target kept.
func (a *admin) ignored(knob int, words string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.had[knob] = words
}

// take returns the knobs that were ignored since the last call.
func (a *admin) take() map[int]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.had
	a.had = map[int]string{}
	return out
}

// prepared returns a function that sets a setting's live knobs on a target. On a launched target, unchanged
// knobs are left as they started. It is nil if there is nothing to set.
func (t *Tuner) prepared(x tune.Setting) func(context.Context, *scenario.Plan) error {
	var turned []int
	for i, k := range t.Space.Knobs {
		if k.Kind == tune.Live && !k.Levels[x[i]].Unset && (t.Running || x[i] != t.Space.Present[i]) {
			turned = append(turned, i)
		}
	}
	if len(turned) == 0 {
		return nil
	}
	return func(ctx context.Context, plan *scenario.Plan) error {
		for _, i := range turned {
			k, want := t.Space.Knobs[i], t.Space.Knobs[i].Levels[x[i]].Text
			was, _, err := t.admin.read(ctx, plan, k)
			if err != nil {
				return err
			}
			has, err := t.admin.set(ctx, plan, k, want)
			if err != nil {
				return err
			}
			if has == "" || tune.Alike(has, want) {
				continue
			}
			words := fmt.Sprintf("%s %s although %s was set", cmp.Or(k.Request.Name, k.Key), has, want)
			if has == was {
				t.admin.ignored(i, words)
				return errors.New("the target ignores a knob: it has " + words)
			}
			return errors.New("the target has " + words) // a limit of its own
		}
		return nil
	}
}

// restoring is how long restoring live knobs may take, whatever ended the tune.
const restoring = 10 * time.Second

// restore restores a running target's live knobs; the error contains the request that does it by
// hand.
func (t *Tuner) restore(ctx context.Context) error {
	if !t.Running {
		return nil // it ended with its launch
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoring)
	defer cancel()
	var failed []error
	for i, k := range t.Space.Knobs {
		l := k.Levels[t.Space.Present[i]]
		if k.Kind != tune.Live || l.Unset {
			continue
		}
		has, err := t.admin.set(ctx, t.Present.Plan, k, l.Text)
		if err == nil && has != "" && !tune.Alike(has, l.Text) {
			err = fmt.Errorf("it is %s", has)
		}
		if err != nil {
			failed = append(failed,
				fmt.Errorf("%s could not be restored to %s: %w (hint: %s)", k.Name, l.Text, err, k.Request.Words(l.Text)))
			continue
		}
		t.step("restored %s to %s", k.Name, l.Text)
	}
	return errors.Join(failed...)
}
