package corpus

import (
	"math"

	"github.com/redline-go/redline/record/findings"
)

const (
	// ledgerOff is how far the shares of a ledger may be from the whole.
	ledgerOff = 0.01
	// mostUnattributed is the share of the whole that a ledger may leave unattributed.
	mostUnattributed = 0.05
)

// Account is one half of a ledger, of request time or of the service's CPU.
type Account struct {
	Sum          float64 `json:"sum"` // of all shares: 1
	Unattributed float64 `json:"unattributed"`
}

// Ledgers are both halves of a run's ledger. A half that was not measured is nil.
type Ledgers struct {
	RequestTime *Account `json:"request_time,omitempty"`
	CPU         *Account `json:"cpu,omitempty"`
}

// ledgersOf sums up a ledger; nil without one.
func ledgersOf(l *findings.Ledger) *Ledgers {
	if l == nil {
		return nil
	}
	return &Ledgers{RequestTime: accountOf(l.RequestTime), CPU: accountOf(l.CPU)}
}

func accountOf(list []findings.LedgerEntry) *Account {
	if len(list) == 0 {
		return nil
	}
	var a Account
	for _, e := range list {
		a.Sum += e.Share
		if e.Who == findings.Unattributed {
			a.Unattributed += e.Share
		}
	}
	return &a
}

// adds reports whether both halves add up to the whole, and attributed whether neither
// leaves too much unattributed. A half that was not measured does neither.
func (l *Ledgers) adds() bool {
	return l.each(func(a Account) bool { return math.Abs(a.Sum-1) <= ledgerOff })
}

func (l *Ledgers) attributed() bool {
	return l.each(func(a Account) bool { return a.Unattributed <= mostUnattributed })
}

func (l *Ledgers) each(ok func(Account) bool) bool {
	return l != nil && l.RequestTime != nil && l.CPU != nil && ok(*l.RequestTime) && ok(*l.CPU)
}
