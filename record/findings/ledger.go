package findings

// Unattributed is the entry of a ledger for time without a known cause.
const Unattributed = "unattributed"

// QueuedForCPU is the entry for the time in which a request was ready to run but had
// no CPU.
const QueuedForCPU = "waiting for a CPU"

// Entries of the request time whose length does not make a service slow: work, the
// client's own pace, and events that requests wait for on purpose.
const (
	OnCPU      = "on CPU"
	ForClient  = "waiting for the client to send or take bytes"
	ForAnEvent = "an event"
)

// Collecting is the entry of either half of a ledger for the garbage collector: its
// CPU, and the time that requests help it, are stopped for it or wait for a cycle.
const Collecting = "runtime: garbage collector"

// Ledger accounts for the mean request's time and for the service's CPU by who is
// responsible. Each list sums to 1, largest first, Unattributed last; an empty
// one was not measured.
type Ledger struct {
	RequestTime []LedgerEntry `json:"request_time,omitempty"`
	CPU         []LedgerEntry `json:"cpu,omitempty"`
	// Path says where a request's time goes along its critical path, the longest
	// first; if there is none, PathWhy says why. See breakdown.Path.
	Path    []LedgerPath `json:"path,omitempty"`
	PathWhy string       `json:"path_why,omitempty"`
	// Most says in a clause what takes most of the requests' time, or of CPUs that are used
	// up: "62 % of request time is one wait: database". Empty if nothing does, as in a
	// healthy service.
	Most string `json:"most,omitempty"`
	// Largest says, of a run without findings on CPUs that are used up, which part of the service's
	// CPU one change could take away at most, and what that is worth: "JSON, most of it below
	// web.Show (web.go:12), 14 % of the service's CPU: at most 1.16x (cpu-json)".
	Largest string `json:"largest,omitempty"`
	// Shape is a sentence on how long requests take and how busy the CPUs are;
	// empty without an anatomy.
	Shape string `json:"shape,omitempty"`
}

// LedgerPath is one way in which the requests' time is spent, in a reader's words. The
// shares of a list sum to 1.
type LedgerPath struct {
	Share float64 `json:"share"` // of request time
	NS    int64   `json:"ns,omitempty"`
	Text  string  `json:"text"`
	// Function is the target's own that works or waits at its end, "" if there is none.
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// LedgerEntry is one responsible part, with its share of the whole, 0 to 1.
type LedgerEntry struct {
	Who   string  `json:"who"`
	Share float64 `json:"share"`
}
