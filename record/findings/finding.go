package findings

// File is the name of Findings in a bundle.
const File = "findings.json"

// Confidence of a finding.
type Confidence string

// Levels of confidence: high if independent sources agree, medium if one source shows
// it and none contradicts it, low if it is a hint.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Finding names one cause of the shared vocabulary (docs/causes.md), where it is,
// how much it explains, and the evidence for it.
type Finding struct {
	Rank  int    `json:"rank"` // from 1
	Cause string `json:"cause"`
	Title string `json:"title"` // one line a person reads first
	// Share is the part explained, 0 to 1, of the amount that ShareOf names.
	Share float64 `json:"share"`
	// "request time", "tail latency", "cpu", "capacity", "goroutines", "live heap", "database
	// connections"
	ShareOf string `json:"share_of"`
	Where   Where  `json:"where"`
	// Evidence holds the figures, strongest first.
	Evidence []Evidence `json:"evidence"`
	Remedy   string     `json:"remedy"`
	// GainCeiling is the factor by which the figure that GainOf names could improve if the
	// cause vanished, by the operational laws (package diagnose/laws): at most 50. 1
	// is no gain.
	GainCeiling float64 `json:"gain_ceiling"`
	// GainOf is "throughput" or "latency": below saturation an open loop's rate is
	// given, and a tail is latency in any loop.
	GainOf string `json:"gain_of,omitempty"`
	// GainAtLeast says that GainCeiling is a floor instead: what limits next is CPU time measured
	// on CPUs that were mostly idle, or the factor is cut at 50.
	GainAtLeast bool `json:"gain_at_least,omitempty"`
	// GainLow and GainHigh are the factor if the share is two standard errors smaller or larger than
	// measured; 0 if its error is not known. They cover only chance, not what the laws leave out. Where requests queue for a lock or
	// a goroutine that works, GainLow is the factor if the work is done elsewhere instead.
	GainLow  float64 `json:"gain_low,omitempty"`
	GainHigh float64 `json:"gain_high,omitempty"`
	// Then names what limits the service once the cause is gone ("the host's 2
	// CPUs"); empty if no measured resource does.
	Then       string     `json:"then,omitempty"`
	Confidence Confidence `json:"confidence"`
	Rejected   []Rejected `json:"rejected"`
}

// Where names the code, statement or setting to change. Fields that do not apply are empty.
type Where struct {
	Function string `json:"function"` // full name, as in a profile
	File     string `json:"file"`
	Line     int    `json:"line"`
	SQL      string `json:"sql"`    // normalised statement
	Detail   string `json:"detail"` // socket, sysctl, dependency, setting
}

// Evidence is one figure with its source.
type Evidence struct {
	Text   string  `json:"text"`
	Source string  `json:"source"` // trace, profile, postgres, probe, process, load, spans
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
}

// Rejected is an alternative that was considered, and why it is not named.
type Rejected struct {
	Cause string `json:"cause"`
	Why   string `json:"why"`
}

// NotJudged is a cause that could not be assessed, because data is missing.
type NotJudged struct {
	Cause string `json:"cause"`
	Why   string `json:"why"`
}

// Findings is findings.json.
type Findings struct {
	Findings  []Finding   `json:"findings"`
	NotJudged []NotJudged `json:"not_judged"`
	// Rejected are the causes that were examined and found not to limit the service,
	// with the figure that contradicts them.
	Rejected []Rejected `json:"rejected,omitempty"`
	CPU      *CPUUse    `json:"cpu,omitempty"`
	// Unread names the parts of the record that were not read, because it is too large.
	Unread []string `json:"unread,omitempty"`
	// Notes are about the measurement and not the service: a host that was not quiet.
	// They are warnings of the summary, and lower the confidence of the findings whose
	// figures they affect.
	Notes []Finding `json:"notes,omitempty"`
	// Ledger is nil if neither an anatomy nor a CPU profile was taken.
	Ledger *Ledger `json:"ledger,omitempty"`
}

// CPUUse says who used the host's CPUs over the steady span, in CPUs: 1.5 is one
// and a half of them all the time. An unknown figure is 0 and left out.
type CPUUse struct {
	CPUs      float64 `json:"cpus"`
	Busy      float64 `json:"busy"` // all that ran
	Full      bool    `json:"full"` // they were used up
	Target    float64 `json:"target,omitempty"`
	Generator float64 `json:"generator,omitempty"`
	Database  float64 `json:"database,omitempty"` // a local server's processes
	// Peers are other programs on this host that the service asks, what uses most first.
	Peers []PeerCPU `json:"peers,omitempty"`
}

// PeerCPU is what a program on this host uses that the service asks at a port.
type PeerCPU struct {
	Program string  `json:"program"`
	Port    string  `json:"port"`
	CPUs    float64 `json:"cpus"`
}
