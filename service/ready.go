package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/redact"
)

// readyInterval is how often a target is asked whether it is ready.
const readyInterval = 50 * time.Millisecond

// NotReady is a target that never became ready.
type NotReady struct {
	What string       // the sign of readiness
	Last error        // the last attempt's error
	Exit *record.Exit // how it ended, if it did

	// Listens are the TCP addresses at which the target listens instead; empty if there
	// are none or they are not visible.
	Listens []string
	// Stderr is the end of its output so far.
	Stderr []string
	// Deaf says that it is known to listen nowhere.
	Deaf bool
}

func (e *NotReady) Error() string {
	var b strings.Builder
	if e.Exit != nil {
		fmt.Fprintf(&b, "the target ended before it was ready: %s", e.Exit.Status)
		quoteLines(&b, e.Exit.Stderr)
		if e.Exit.Status == "exit status 0" {
			b.WriteString("\n  hint: it found nothing to do, or moved to the background: give its subcommand and flags after " +
				"--, and keep it in the foreground")
		} else if len(e.Exit.Stderr) == 0 {
			b.WriteString("\n  hint: it wrote nothing to standard error: -v shows what it writes to standard output")
		}
		return b.String()
	}
	fmt.Fprintf(&b, "the target did not become ready: %s: %v", e.What, e.Last)
	quoteLines(&b, e.Stderr)
	switch {
	case len(e.Listens) > 0:
		fmt.Fprintf(&b, "\n  hint: it listens on %s: load that, or configure the address that you load", strings.Join(e.Listens, ", "))
	case e.Deaf:
		b.WriteString("\n  hint: it listens nowhere: does it need a subcommand or flags (after --), variables, another " +
			"folder (--dir), or more time (ready_timeout in a scenario)?")
	}
	return b.String()
}

func quoteLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "\n  | %s", line)
	}
}

func (e *NotReady) Unwrap() error { return e.Last }

// waitReady polls until the target answers.
func waitReady(ctx context.Context, o Options, p *process) error {
	limit := o.Target.WithDefaults().ReadyTimeout
	var exited <-chan struct{}
	if p != nil {
		exited = p.done
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	what, attempt := readiness(o)
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	var last error
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // an attempt that the deadline cut short says nothing about the target
		}
		select {
		case <-exited:
			return &NotReady{What: what, Last: last, Exit: p.exit(o.Clock)}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return notReady(context.WithoutCancel(ctx), fmt.Sprintf("%s for %v", what, limit), last, o, p)
		case <-tick.C:
		}
	}
}

// notReady describes a target that runs but does not answer where it should.
func notReady(ctx context.Context, what string, last error, o Options, p *process) error {
	e := &NotReady{What: what, Last: last}
	if p == nil {
		return e
	}
	e.Stderr = p.tail.lines()
	at, err := listens(p.pid())
	if err != nil {
		return e // only Linux shows it
	}
	e.Deaf = len(at) == 0
	// Where it listens at the address and is not ready, the error says why, and its other addresses are no better.
	if !include(ctx, at, dialAddress(cmp.Or(o.Target.Ready, o.URL))) {
		e.Listens = dialled(at)
	}
	return e
}

// include reports whether a server that listens at some addresses is reached at the wanted one, whose host may be a name.
func include(ctx context.Context, at []net.TCPAddr, wanted string) bool {
	host, port, err := net.SplitHostPort(wanted)
	if err != nil {
		return false
	}
	ips, err := lookup(ctx, host)
	return err == nil && slices.ContainsFunc(at, func(a net.TCPAddr) bool {
		return strconv.Itoa(a.Port) == port && (a.IP.IsUnspecified() || slices.ContainsFunc(ips, a.IP.Equal))
	})
}

// dialled returns addresses at which a server listens in the form for dialling, sorted.
func dialled(at []net.TCPAddr) []string {
	var found []string
	for _, a := range at {
		if a.IP.IsUnspecified() {
			a.IP = net.IPv4(127, 0, 0, 1)
		}
		found = append(found, a.String())
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// readiness returns the sign of readiness in words and one attempt at it.
func readiness(o Options) (what string, attempt func(context.Context) error) {
	if o.Target.Ready != "" {
		client := &http.Client{
			Timeout:       2 * time.Second,
			Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: o.TLS},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		return "GET " + redact.Text(o.Target.Ready), func(ctx context.Context) error {
			return getReady(ctx, client, o.Target.Ready)
		}
	}
	address := dialAddress(o.URL)
	return "connect to " + address, func(ctx context.Context) error {
		dialer := net.Dialer{Timeout: 2 * time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

func getReady(ctx context.Context, client *http.Client, target string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode >= 500 {
		return fmt.Errorf("answers %s", response.Status)
	}
	return nil
}

// dialAddress returns host:port of a URL, with the scheme's port by default.
func dialAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	if u.Port() != "" {
		return u.Host
	}
	if slices.Contains([]string{"https", "wss", "grpcs"}, u.Scheme) {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// checkFree refuses a target whose address is already served: the target could not bind
// it, and the load would hit a stranger.
func checkFree(ctx context.Context, rawURL string) error {
	address := dialAddress(rawURL)
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil // no listener: as it should be
	}
	conn.Close()
	by := ""
	if pid, err := listener(ctx, rawURL, 0); err == nil {
		by = fmt.Sprintf(" by process %d", pid)
	}
	return fmt.Errorf("%s is already in use%s, so the target cannot start there (hint: stop that server, or omit "+
		"--exec and --build to load it)", address, by)
}
