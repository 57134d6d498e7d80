package record

// Unattributed is the entry of a ledger for what nobody could be named for.
const Unattributed = "unattributed"

// Ledger accounts for the mean request's time and for the service's CPU by who is
// responsible. Each list sums to 1, largest first, Unattributed last; an empty
// one was not measured.
type Ledger struct {
	RequestTime []LedgerEntry `json:"request_time,omitempty"`
	CPU         []LedgerEntry `json:"cpu,omitempty"`
	// Shape is a sentence on how long requests take and how busy the CPUs are;
	// empty without an anatomy.
	Shape string `json:"shape,omitempty"`
}

// LedgerEntry is one who is responsible, with a share of the whole, 0 to 1.
type LedgerEntry struct {
	Who   string  `json:"who"`
	Share float64 `json:"share"`
}
