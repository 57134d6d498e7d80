package scenario

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// Flags are a run's settings from the command line. The zero value of a field
// means that its flag was not given.
type Flags struct {
	Connections int            // -c: closed loop; with Rate, the cap on connections
	Rate        string         // --rate: open loop, as ParseRate reads it
	Duration    time.Duration  // -d
	Warmup      *time.Duration // --warmup; nil is not given, 0 is none
	Timeout     time.Duration  // --timeout
	Grace       time.Duration  // --grace

	Requests      int64    // -n
	Poisson       bool     // --poisson
	PerConnection string   // --rate-per-connection, as ParseRate reads it
	Streams       int      // --streams
	Think         string   // --think, as ParseThink reads it
	ConnectRate   string   // --connect-rate, as ParseRate reads it
	Sources       []string // --source, as ParseSource reads it
	Threads       int      // --threads
	Replay        string   // --replay: a log, for a URL only, which is its base
	Speed         float64  // --speed of the replay; 0 is 1
	ReplayMethods []string // --replay-methods; none sends those that are safe

	Method  string   // --method, for a URL only
	Body    string   // --body or --data, for a URL only: the body or the message, or "@" and a file that holds it
	Headers []string // -H "Name: value", added to every request
	Follow  bool     // --follow, for every request
	HTTP2   bool     // --http2

	CACert        string // --cacert, a file as the next ones are
	Cert          string // --cert
	Key           string // --key
	ServerName    string // --server-name
	Insecure      bool   // --insecure
	DescriptorSet string // --descriptor-set

	Exec  string // --exec: a command, as SplitCommand reads it
	Build string // --build
	PID   int    // --pid
	// BuildFlags is --build-flags, as SplitCommand reads it.
	BuildFlags string
	Dir        string // --dir
	// Plain is --no-instrument.
	Plain bool
	Args  []string // after --
	Ready string   // --ready

	Pprof      string   // --pprof
	Postgres   string   // --postgres
	OTLP       string   // --otlp, as ParseOTLP reads it
	OTLPToken  string   // of the environment; a scenario's own takes precedence
	Export     Export   // --prometheus, --pyroscope, --otlp-metrics, and tokens of the environment
	Thresholds []string // --threshold, added
	Redact     []string // --redact, added
}

// DefaultWarmup is the warm-up of a run from flags alone. A scenario file has
// none unless it says so.
const DefaultWarmup = 5 * time.Second

// FromURL returns the plan of a run against one URL, or of a log replayed
// against one.
func FromURL(target string, f Flags) (*Plan, error) {
	if err := protocol.CheckTarget(target); err != nil {
		return nil, err
	}
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	p := &Plan{Name: u.Hostname(), Data: map[string]*feeder.Table{}, Load: Load{Warmup: DefaultWarmup}}
	if f.Replay != "" {
		err = p.replayFlags(target, f)
	} else {
		err = p.requestFlags(target, f)
	}
	if err != nil {
		return nil, err
	}
	f.Method, f.Body, f.Replay, f.Speed, f.ReplayMethods = "", "", "", 0, nil
	if err := p.Apply(f); err != nil {
		return nil, err
	}
	return p, nil
}

// maxBody bounds the file of a body: each run's record holds it.
const maxBody = 4 << 20

// requestFlags makes the one request of a URL.
func (p *Plan) requestFlags(target string, f Flags) (err error) {
	if f.Speed != 0 {
		return mistake.Newf("add --replay FILE", "--speed is for a replay")
	}
	if len(f.ReplayMethods) > 0 {
		return mistake.Newf("add --replay FILE", "--replay-methods is for a replay")
	}
	if f.Body, err = bodyOf(f.Body); err != nil {
		return err
	}
	if strings.Contains(target, "{{") || strings.Contains(f.Body, "{{") {
		return mistake.Newf("write a scenario file", "{{ needs data, and a URL alone has none")
	}
	spoken := protocol.Of(feeder.Template(target), "")
	r := Request{Method: protocol.MethodOf(spoken), URL: feeder.Template(target), Weight: 1, Body: feeder.Template(f.Body)}
	switch {
	case f.Method != "" && spoken != protocol.HTTP1:
		return mistake.Newf("leave it out", "--method is for http and https")
	case f.Method != "":
		if r.Method, err = protocol.CheckMethod(f.Method); err != nil {
			return fmt.Errorf("--method: %w", err)
		}
	case f.Body != "" && spoken == protocol.HTTP1:
		r.Method = "POST"
	case f.Body == "" && spoken == protocol.RPC:
		r.Body = "{}"
	}
	r.Name = protocol.RequestName(r.Method, r.URL)
	p.Requests = []Request{r}
	return nil
}

// bodyOf returns what --body says, or what the file holds that it names.
func bodyOf(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	body, err := file.ReadFlag("--body", name, maxBody)
	if err == nil && !utf8.Valid(body) {
		err = mistake.Newf("send text, such as base64", "--body: %s: no UTF-8, in which the record keeps requests", name)
	}
	return string(body), err
}

// replayFlags makes the requests of a log that is replayed against a URL. Its
// first requests are no warm-up unless the flags say so.
func (p *Plan) replayFlags(target string, f Flags) error {
	if f.Method != "" || f.Body != "" {
		return mistake.Newf("the log has them", "--method, --body and --data are not for a replay")
	}
	base, err := CheckBase(target)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	if f.Speed != 0 {
		if err := checkSpeed(f.Speed); err != nil {
			return fmt.Errorf("--speed: %w", err)
		}
	}
	log, err := file.Open(file.Anywhere{}, f.Replay)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	defer log.Close()
	s := ReplaySource{File: f.Replay, Base: base, Speed: f.Speed}
	for _, name := range f.ReplayMethods {
		method, err := protocol.CheckMethod(name)
		if err != nil {
			return fmt.Errorf("--replay-methods: %w", err)
		}
		s.Methods = append(s.Methods, method)
	}
	if err := s.Into(p, log); err != nil {
		return fmt.Errorf("--replay: %s: %w", f.Replay, err)
	}
	p.Load.Warmup = 0
	return nil
}

// Apply overrides the plan by flags and validates it. On an error the plan is
// as it was.
func (p *Plan) Apply(f Flags) error {
	next := *p
	if f.Method != "" || f.Body != "" {
		return mistake.Newf("change them in the file", "--method, --body and --data are for a URL, not for a scenario file")
	}
	if f.Replay != "" || f.Speed != 0 || len(f.ReplayMethods) > 0 {
		return mistake.Newf("change load.replay in the file",
			"--replay, --replay-methods and --speed are for a URL, not for a scenario file")
	}
	if p.openEnded && f.Duration == 0 {
		next.Load.Duration = 0 // it follows from the rest
	}
	if err := next.applyProtocol(f); err != nil {
		return err
	}
	if err := next.Load.apply(f); err != nil {
		return err
	}
	if err := next.Target.apply(f); err != nil {
		return err
	}
	if err := next.applyHeaders(f.Headers); err != nil {
		return err
	}
	if f.Pprof != "" {
		next.Observe.Pprof = f.Pprof
	}
	if f.Postgres != "" {
		next.Observe.Postgres = f.Postgres
	}
	if f.OTLP != "" {
		addresses, err := ParseOTLP(f.OTLP)
		if err != nil {
			return fmt.Errorf("--otlp: %w", err)
		}
		next.Observe.OTLP = addresses
	}
	if next.Observe.OTLPToken == "" {
		next.Observe.OTLPToken = f.OTLPToken
	}
	next.Export.apply(f.Export)
	if err := next.applyLists(f); err != nil {
		return err
	}
	if err := next.Validate(); err != nil {
		return err
	}
	*p = next
	return nil
}

// applyLists adds to the lists of the file. They are cloned first: Apply works on a copy of the plan that shares them.
func (p *Plan) applyLists(f Flags) error {
	p.Thresholds, p.Redact = slices.Clone(p.Thresholds), slices.Clone(p.Redact)
	for _, expr := range f.Thresholds {
		t, err := criteria.ParseThreshold(expr)
		if err != nil {
			return fmt.Errorf("--threshold: %w", err)
		}
		p.Thresholds = append(p.Thresholds, t)
	}
	for _, name := range f.Redact {
		if _, err := protocol.CheckHeader(name); err != nil {
			return fmt.Errorf("--redact: %w", err)
		}
		p.Redact = append(p.Redact, name)
	}
	return nil
}

func (t *Target) apply(f Flags) error {
	if f.Exec != "" || f.Build != "" || f.PID != 0 {
		t.Exec, t.Build, t.PID = nil, f.Build, f.PID
		if t.Build == "" {
			t.BuildFlags = nil // there is nothing to build
		}
	}
	if f.Exec != "" {
		words, err := scalar.SplitCommand(f.Exec)
		if err != nil {
			return fmt.Errorf("--exec: %w", err)
		}
		t.Exec = words
	}
	if f.BuildFlags != "" {
		words, err := scalar.SplitCommand(f.BuildFlags)
		if err != nil {
			return fmt.Errorf("--build-flags: %w", err)
		}
		t.BuildFlags = words
	}
	if f.Dir != "" {
		t.Dir = f.Dir
	}
	t.Plain = t.Plain || f.Plain
	if len(f.Args) > 0 {
		t.Args = f.Args
	}
	if f.Ready != "" {
		t.Ready = f.Ready
	}
	return nil
}

// applyHeaders adds headers, written "Name: value", to every request.
func (p *Plan) applyHeaders(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	requests := make([]Request, len(p.Requests))
	for i, r := range p.Requests {
		headers := map[string]Secret{}
		for name, value := range r.Headers {
			headers[name] = value
		}
		for _, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return mistake.Newf(`write it as -H "Name: value"`, "-H: a header has no colon")
			}
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if _, err := protocol.CheckHeader(name); err != nil {
				return fmt.Errorf("-H: %w", err)
			}
			for other := range headers {
				if strings.EqualFold(other, name) {
					delete(headers, other)
				}
			}
			headers[name] = Secret(value)
		}
		r.Headers = headers
		requests[i] = r
	}
	p.Requests = requests
	return nil
}
