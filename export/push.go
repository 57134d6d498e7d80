package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/redline-go/redline/redact"
)

// How a receiver is treated.
const (
	mostQueued    = 32 << 20 // bytes that wait for one receiver
	answerTimeout = 10 * time.Second
	firstPause    = 200 * time.Millisecond // before a request is tried again; doubles
	longestPause  = 5 * time.Second
	closeGrace    = 3 * time.Second        // to deliver the queue at the end
	failingGrace  = 500 * time.Millisecond // the same when the last request failed, as it does when there is no receiver
	mostAnswer    = 64 << 10               // bytes read of an answer
)

// request is one delivery. Its values are lost when it fails.
type request struct {
	url         string // empty for the pusher's own
	contentType string
	body        []byte
	values      int64
	// finish, if not nil, completes the request before it is sent, on the pusher's goroutine.
	finish func(*request) error
}

// pusher delivers requests to one receiver, in order, from a bounded queue.
type pusher struct {
	name   string // for people
	what   string // its values are
	url    string // without userinfo
	header http.Header
	client *http.Client
	// retry reports whether a status is worth another try.
	retry func(status int) bool
	// refused reads from a good answer how many values were not taken, and why.
	refused func(body []byte) (int64, string)

	mu      sync.Mutex
	queue   []request
	queued  int // bytes, the request in progress included
	closed  bool
	failing bool
	sent    int64 // values
	dropped int64
	why     string // of the first failure
	wake    chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

// newPusher returns the pusher of a receiver, to be run. Userinfo of the URL becomes basic
// authentication, a token a bearer token.
func newPusher(name string, to *url.URL, token string) *pusher {
	header := http.Header{"User-Agent": {"redline"}}
	clean := *to
	clean.User = nil
	switch {
	case token != "":
		header.Set("Authorization", "Bearer "+token)
	case to.User != nil:
		password, _ := to.User.Password()
		r := http.Request{Header: header}
		r.SetBasicAuth(to.User.Username(), password)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &pusher{
		name: name, what: "values", url: clean.String(), header: header, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
		retry: func(status int) bool { return status == http.StatusTooManyRequests || status >= 500 },
		client: &http.Client{
			Timeout: answerTimeout,
			// The token is for the receiver that was named, and for no other.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1, IdleConnTimeout: time.Minute},
		},
	}
}

// push queues a request, or drops it when too much waits. It never blocks.
func (p *pusher) push(r request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(r.body) > mostQueued:
		p.lose(r.values, fmt.Sprintf("one is larger than %d MB", mostQueued>>20))
		return
	case p.closed || p.queued+len(r.body) > mostQueued:
		p.lose(r.values, "it accepts them slower than they arrive")
		return
	}
	p.queue = append(p.queue, r)
	p.queued += len(r.body)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// lose counts values that the receiver does not have. The lock is held.
func (p *pusher) lose(values int64, why string) {
	p.dropped += values
	if p.why == "" {
		p.why = printable(why)
	}
}

// run delivers until the pusher is closed and its queue is empty, or ctx is done.
func (p *pusher) run() {
	defer close(p.ended)
	for p.ctx.Err() == nil {
		r, ok, closed := p.next()
		if !ok {
			if closed {
				return
			}
			select {
			case <-p.wake:
			case <-p.ctx.Done():
				return
			}
			continue
		}
		size := len(r.body)
		rejected, err := p.deliver(r)
		p.mu.Lock()
		p.queued -= size
		if err != nil {
			p.lose(r.values, err.Error())
		} else {
			p.sent += r.values - min(rejected, r.values)
		}
		p.mu.Unlock()
	}
}

func (p *pusher) next() (r request, ok, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return r, false, p.closed
	}
	r = p.queue[0]
	p.queue[0] = request{}
	p.queue = p.queue[1:]
	return r, true, p.closed
}

// temporary is a failure that may pass.
type temporary struct {
	error
	after time.Duration // as the receiver asked; zero when it did not
}

// deliver tries a request until it is taken, refused for good, or ctx is done.
func (p *pusher) deliver(r request) (rejected int64, err error) {
	if r.finish != nil {
		if err := r.finish(&r); err != nil {
			return 0, err
		}
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		rejected, err = p.try(r)
		var soon *temporary
		again := errors.As(err, &soon)
		p.mu.Lock()
		p.failing = again
		if err != nil {
			p.lose(0, err.Error())
		}
		p.mu.Unlock()
		if !again {
			return rejected, err
		}
		select {
		case <-time.After(max(pause, soon.after)):
		case <-p.ctx.Done():
			return 0, err
		}
	}
}

// try sends a request once.
func (p *pusher) try(r request) (rejected int64, err error) {
	to := p.url
	if r.url != "" {
		to = r.url
	}
	q, err := http.NewRequestWithContext(p.ctx, http.MethodPost, to, bytes.NewReader(r.body))
	if err != nil {
		return 0, err
	}
	q.Header = p.header.Clone()
	q.Header.Set("Content-Type", r.contentType)
	answer, err := p.client.Do(q)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err // without the URL, which may hold a secret
		}
		return 0, &temporary{error: err}
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, mostAnswer)) // a cut answer says less and changes nothing
	switch status := answer.StatusCode; {
	case status >= 200 && status < 300:
		return p.accepted(body), nil
	case p.retry(status):
		return 0, &temporary{error: refusal(answer.Status, body), after: retryAfter(answer)}
	default:
		return 0, refusal(answer.Status, body)
	}
}

// accepted counts the values that a good answer rejects.
func (p *pusher) accepted(body []byte) (rejected int64) {
	if p.refused == nil {
		return 0
	}
	rejected, why := p.refused(body)
	if rejected > 0 {
		p.mu.Lock()
		p.lose(rejected, why)
		p.mu.Unlock()
	}
	return rejected
}

func refusal(status string, body []byte) error {
	text := printable(string(body))
	if text == "" {
		return errors.New(printable(status))
	}
	return fmt.Errorf("%s: %s", printable(status), text)
}

// printable makes text of a receiver fit for a warning: one line, not long,
// nothing that a terminal obeys, no secret.
func printable(text string) string {
	const longest = 200
	text = redact.Text(text) // before it is cut: half a secret is not found
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), longest)], ""))
	return strings.Join(strings.Fields(text), " ")
}

// retryAfter reads how long a receiver asks to be left alone (RFC 9110, section
// 10.2.3, in seconds), half a minute at most.
func retryAfter(answer *http.Response) time.Duration {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 30)) * time.Second
}

// close delivers the queue, within the grace time, and returns a warning when
// values were lost, or "".
func (p *pusher) close() string {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if !p.endsWithin(failingGrace) && !p.fails() {
		p.endsWithin(closeGrace - failingGrace)
	}
	p.cancel()
	<-p.ended
	p.client.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.queue {
		p.lose(r.values, "it accepts them slower than they arrive")
	}
	p.queue = nil
	if p.dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%s at %s did not accept %d of %d %s: %s; the record has them",
		p.name, redact.Text(p.url), p.dropped, p.dropped+p.sent, p.what, p.why)
}

func (p *pusher) endsWithin(grace time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(grace):
		return false
	}
}

func (p *pusher) fails() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failing
}
