package goruntime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

// pprof is the way in through net/http/pprof, at the URL where its index is.
type pprof struct {
	base  *url.URL
	clock timebase.Clock
	http  *http.Client
	pid   int // 0 if the process is unknown or on another host
}

var _ client = (*pprof)(nil)

// newPprof checks that the URL serves profiles. It fetches a heap profile,
// which is wanted later: the index page, or a login page, is HTML
// behind the same URL.
func newPprof(ctx context.Context, base string, pid int, clock timebase.Clock) (*pprof, error) {
	const enable = "import net/http/pprof in the target and give the URL of its index, as in http://127.0.0.1:6060/debug/pprof"
	u, err := parseBase(base)
	if err != nil {
		return nil, &observe.Unsupported{What: "the pprof URL is not usable", Enable: enable, Err: err}
	}
	p := &pprof{base: u, pid: pid, clock: clock, http: &http.Client{
		// No proxy: the target is near, and profiles are private.
		Transport: &http.Transport{
			DisableCompression: true,
			DisableKeepAlives:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	ctx, cancel := context.WithTimeout(ctx, overhang)
	defer cancel()
	c, err := p.snapshot(ctx, "heap")
	if err == nil {
		_, err = parse(c.data)
	}
	if err != nil {
		return nil, &observe.Unsupported{What: "no profiles at " + u.Redacted(), Enable: enable, Err: err}
	}
	return p, nil
}

// parseBase checks the URL of net/http/pprof. Its errors leave the URL out, which may
// hold a password.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	switch {
	case err != nil:
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // without the URL, which may hold a password
		}
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it begins with neither http:// nor https://")
	case u.Host == "":
		return nil, errors.New("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has a query or a fragment")
	}
	return u, nil
}

// snapshot takes a profile of state. net/http/pprof does not date it, so that half the
// round trip bounds the error.
func (p *pprof) snapshot(ctx context.Context, kind string) (capture, error) {
	c, err := p.get(ctx, kind, url.Values{"debug": {"0"}}, 0, maxProfile)
	c.err = c.span.Len() / 2
	return c, err
}

// cpu takes whole seconds, because net/http/pprof has no others; a length a little
// short of a full second, by the time that connecting took, is rounded up.
func (p *pprof) cpu(ctx context.Context, length time.Duration) (capture, error) {
	seconds := int((length + 100*time.Millisecond) / time.Second)
	if seconds < 1 {
		return capture{}, fmt.Errorf("a CPU profile over HTTP takes a second at least, and there are %s", notation.Time(length))
	}
	return p.timed(ctx, "profile", strconv.Itoa(seconds), time.Duration(seconds)*time.Second, maxProfile)
}

// trace takes an execution trace of at most limit bytes. net/http/pprof sends as it
// records, so a trace that is cut short keeps what came.
func (p *pprof) trace(ctx context.Context, length time.Duration, limit int64) (capture, error) {
	return p.timed(ctx, "trace", strconv.FormatFloat(length.Seconds(), 'f', 3, 64), length, limit)
}

// timed fetches a page that takes a while. The profile or trace began somewhere between
// the sending of the request and its length before the end: the middle of that span is
// taken as its begin, and half of the span is the error.
func (p *pprof) timed(ctx context.Context, kind, seconds string, length time.Duration, limit int64) (capture, error) {
	c, err := p.get(ctx, kind, url.Values{"seconds": {seconds}}, length, limit)
	if slack := c.span.Len() - length; slack >= 0 {
		c.err = slack / 2
		c.span = timebase.Span{From: c.span.From + c.err, To: c.span.From + c.err + length}
	} else {
		c.cut = true
	}
	return c, err
}

// identity is the kernel's account of the process (start time and stack), because the
// target itself cannot report it over HTTP; "" if it is on another host.
func (p *pprof) identity(context.Context) (string, error) { return processIdentity(p.pid), nil }

// get fetches one of net/http/pprof's pages. Bytes before an error are in
// the capture.
func (p *pprof) get(ctx context.Context, page string, query url.Values, length time.Duration, limit int64) (capture, error) {
	ctx, cancel := context.WithTimeout(ctx, length+overhang)
	defer cancel()
	u := *p.base
	u.Path, u.RawPath = u.Path+"/"+page, ""
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return capture{}, errors.New("pprof: cannot make the request")
	}
	// The request is sent once the connection is established, not before.
	var sent time.Duration
	request = request.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent = p.clock.Now() },
	}))
	response, err := p.http.Do(request)
	if err != nil {
		return capture{}, fmt.Errorf("pprof: %s: %w", page, bare(err))
	}
	defer response.Body.Close()
	if err := refused(response); err != nil {
		return capture{}, fmt.Errorf("pprof: %s: %w", page, err)
	}
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(response.Body, limit+1))
	c := capture{data: data.Bytes(), span: timebase.Span{From: sent, To: p.clock.Now()}}
	switch {
	case err != nil:
		return c, fmt.Errorf("pprof: %s ends early: %w", page, bare(err))
	case n > limit:
		c.data = c.data[:limit]
		return c, fmt.Errorf("pprof: %s: %w of %d bytes", page, errTooLarge, limit)
	}
	return c, nil
}

var errTooLarge = errors.New("answer is larger than its bound")

// statusError is an answer with another status than 200.
type statusError struct {
	code int
	text string
}

// Error names the status and the beginning of the answer, in which most handlers give the
// reason.
func (e *statusError) Error() string { return "answers " + strconv.Itoa(e.code) + e.text }

// refused explains an answer that is no profile.
func refused(r *http.Response) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return &statusError{r.StatusCode, ", a redirect (does it want a login?)"}
	case r.StatusCode != http.StatusOK && kind == "text/plain":
		b, _ := io.ReadAll(io.LimitReader(r.Body, maxText))
		return &statusError{r.StatusCode, ": " + printable(strings.TrimSpace(string(b)))}
	case r.StatusCode != http.StatusOK:
		return &statusError{r.StatusCode, ""}
	case kind == "text/html":
		return errors.New("answers HTML, not a profile (is it the URL of net/http/pprof?)")
	}
	return nil
}

// bare removes the URL, which may hold a password, from an HTTP error.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// printable blanks control characters: the answer is the target's, and ends up in a
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
