package record

import (
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
)

// SummaryFile is the name of Summary in a bundle.
const SummaryFile = "summary.json"

// Summary is summary.json, and all that --json prints: a contract with scripts. Times
// are ns, sizes bytes, rates 1/s.
type Summary struct {
	Schema     string               `json:"schema"`
	Run        string               `json:"run"` // path of the bundle
	State      State                `json:"state"`
	Target     Target               `json:"target"`
	Load       LoadSummary          `json:"load"`
	Generator  Generator            `json:"generator"`
	Sources    []SourceHealth       `json:"sources"`
	Anatomy    breakdown.Summary    `json:"anatomy"`
	Findings   []findings.Finding   `json:"findings"`
	NotJudged  []findings.NotJudged `json:"not_judged"`
	CPU        *findings.CPUUse     `json:"cpu,omitempty"`    // nil if the host's CPUs are not known, or the target runs elsewhere
	Ledger     *findings.Ledger     `json:"ledger,omitempty"` // nil if neither an anatomy nor a CPU profile was taken
	Overhead   *Overhead            `json:"overhead,omitempty"`
	Thresholds []ThresholdResult    `json:"thresholds"`
	Warnings   []string             `json:"warnings"`
	// Caution is the one of Warnings that readers must know before any figure; empty without one.
	Caution string `json:"caution,omitempty"`
}

// LoadSummary holds the load half's measurements over the steady span.
type LoadSummary struct {
	Model        string              `json:"model"` // open or closed
	Connections  int                 `json:"connections"`
	Duration     int64               `json:"duration_ns"`
	Requests     int64               `json:"requests"` // ended: successes and failures
	Errors       int64               `json:"errors"`
	Rate         float64             `json:"rate"`          // successes per second
	IntendedRate float64             `json:"intended_rate"` // 0 in a closed loop
	Latency      histogram.Quantiles `json:"latency_ns"`
	Service      histogram.Quantiles `json:"service_ns"`
	FirstByte    histogram.Quantiles `json:"first_byte_ns"`
	Lag          histogram.Quantiles `json:"lag_ns"`
	ErrorLatency histogram.Quantiles `json:"error_latency_ns"`
	Status       map[string]int64    `json:"status"`
	ErrorKinds   map[string]int64    `json:"error_kinds"`
	Failures     []FailureSummary    `json:"failures,omitempty"` // their messages, most frequent first
	BytesIn      int64               `json:"bytes_in"`
	BytesOut     int64               `json:"bytes_out"`
	InFlight     int64               `json:"in_flight_at_end"` // unfinished after the grace time

	Protocol    string  `json:"protocol,omitempty"`    // "http/1.1", "h2", "grpc", "websocket", "tcp"
	Streams     int     `json:"streams,omitempty"`     // requests at once per connection, where it can be more than one
	Established float64 `json:"established,omitempty"` // mean number of open connections
	Dials       int64   `json:"dials,omitempty"`       // connections opened, warm-up included
	// Reconnects are the dials that replaced a connection that the target had closed
	// between two requests.
	Reconnects int64 `json:"reconnects,omitempty"`
	// Resent are the requests that went out once more, on a new connection, because the
	// target closed the old one without processing them, warm-up included. They are not
	// errors; their latency keeps counting.
	Resent int64         `json:"resent,omitempty"`
	Steps  []StepSummary `json:"steps,omitempty"` // one per request of the mix, if there are several
	Checks []CheckResult `json:"checks,omitempty"`
	// Unexpected are the answers whose status the scenario does not expect.
	Unexpected int64 `json:"unexpected,omitempty"`
}

// UnexpectedStatus is the kind of failure that load gives to an answer whose status
// does not count as success in the scenario.
const UnexpectedStatus = "status"

// StepSummary is one request of the mix over the steady span.
type StepSummary struct {
	Name     string              `json:"name"`
	Requests int64               `json:"requests"`
	Errors   int64               `json:"errors"`
	Latency  histogram.Quantiles `json:"latency_ns"`
}

// FailureSummary counts failures of one request with the same message.
type FailureSummary struct {
	Kind    string        `json:"kind"`              // as in error_kinds; empty for the rest, beyond the record's bound
	Text    string        `json:"text"`              // what the generator saw, without secrets
	Request string        `json:"request,omitempty"` // of the mix, if there are several
	Count   int64         `json:"count"`
	First   time.Duration `json:"first_ns"` // run time at which the first and the last of them ended
	Last    time.Duration `json:"last_ns"`
}

// CheckResult is one check of the scenario over the steady span. Requests that failed as
// a whole (no answer, not the protocol) are not checked.
type CheckResult struct {
	Request string `json:"request"`
	Name    string `json:"name"`
	Passed  int64  `json:"passed"`
	Failed  int64  `json:"failed"`
}

// Validity is whether a run's figures are the target's.
type Validity string

// Validities. Unknown is a run that was killed before the generator judged itself.
const (
	ValidityValid   Validity = "valid"
	ValidityInvalid Validity = "invalid"
	ValidityUnknown Validity = "unknown"
)

// Verdict returns the validity, also of summaries older than that field.
func (g Generator) Verdict() Validity {
	switch {
	case g.Validity != "":
		return g.Validity
	case g.Valid:
		return ValidityValid
	}
	return ValidityInvalid
}

// Generator is the generator's assessment of itself.
type Generator struct {
	CPU            int64   `json:"cpu_ns"`
	RequestsPerCPU float64 `json:"requests_per_cpu_s"`
	// Valid is whether the figures are known to be the target's; Validity separates
	// the other two cases.
	Valid      bool     `json:"valid"`
	Validity   Validity `json:"validity,omitempty"`
	WhyInvalid []string `json:"why_invalid"`
	// Unanswered is the only reason of WhyInvalid that the generator does not cause: too
	// many requests never ended. Empty if that is not among them.
	Unanswered string `json:"unanswered,omitempty"`
}

// ThresholdResult is one pass/fail expression of the scenario. OK is false
// when the metric is missing.
type ThresholdResult struct {
	Expr  string   `json:"expr"`
	OK    bool     `json:"ok"`
	Value *float64 `json:"value"` // in the metric's base unit; null when missing
	// AtLeast says that Value is only a lower bound: it falls on requests that
	// never ended. An upper limit is then never kept.
	AtLeast bool `json:"at_least,omitempty"`
}

// Overhead is the cost of observation in the target: the relative change of
// throughput, + is slower, with its confidence interval.
type Overhead struct {
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Pairs      int     `json:"pairs"`
}
