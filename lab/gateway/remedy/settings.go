// Package remedy says how the gateway can be set: its switches, the remedies
// among them with the causes that call for each, and the single-fault settings.
// They are plain values, so that help, `gateway remedies --json`, `gateway
// faults --json` and the tests render one table.
//
// The package only parses: the code that a switch changes reads it there.
package remedy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Settings are the gateway's switches, parsed. Naive and Sound return the two
// ends of the ladder.
type Settings struct {
	Index         bool // keep an index on orders(user_id, created_at)
	Pool          int  // connections, open and idle alike; 0 leaves database/sql's defaults
	Prepared      bool // prepare statements once per connection
	Batched       bool // load an order's items and events in one query each
	BatchedWrites bool // insert an order's items and events in one statement each
	AppendJSON    bool // encode replies by appending to a buffer
	AsyncLog      bool // log one line per request from a queue
	RegexpOnce    bool // compile patterns at start
	TrimmedChain  bool // run only the middleware that a route needs
	ShardedTable  bool // rate-limit table in shards instead of under one mutex
	BatchedAudit  bool // write the audit trail in groups
	PooledBuffers bool // reuse buffers
	GC            GC
	Workers       int     // requests handled at once; 0 is no limit
	UnlockedReads bool    // read without the process-wide ledger lock
	Pace          float64 // reads let through per second; 0 is no pacing
	Risk          bool    // ask the risk service before every read
	Cache         bool    // keep orders in the process until they are written
}

// GC is a setting of the garbage collector; the zero value leaves it alone.
type GC struct {
	Percent int   // as GOGC
	Limit   int64 // bytes, as GOMEMLIMIT; 0 is none
}

func parseBool(field *bool) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("want 0 or 1")
		}
		*field = v
		return nil
	}
}

// parseNot is for a switch whose 1 means that a fault is absent.
func parseNot(field *bool) func(string) error {
	return func(text string) error {
		err := parseBool(field)(text)
		*field = !*field
		return err
	}
}

func parseCount(field *int, none string) func(string) error {
	return func(text string) error {
		if text == none {
			*field = 0
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 10_000 {
			return fmt.Errorf("want %s or a number from 1 to 10000", none)
		}
		*field = n
		return nil
	}
}

func parseRate(field *float64) func(string) error {
	return func(text string) error {
		if text == "none" {
			*field = 0
			return nil
		}
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate >= 1 && rate <= 1e6) {
			return errors.New("want none or a rate from 1 to 1000000 per second")
		}
		*field = rate
		return nil
	}
}

// parseGC reads "default", "PERCENT" or "PERCENT/LIMITMiB".
func parseGC(field *GC) func(string) error {
	return func(text string) error {
		if text == "default" {
			*field = GC{}
			return nil
		}
		percent, limit, limited := strings.Cut(text, "/")
		n, err := strconv.Atoi(percent)
		if err != nil || n < 1 || n > 10_000 {
			return errors.New("want default, PERCENT or PERCENT/LIMITMiB, such as 400/512MiB")
		}
		gc := GC{Percent: n}
		if limited {
			number, isMiB := strings.CutSuffix(limit, "MiB")
			mib, err := strconv.ParseInt(number, 10, 32)
			if err != nil || !isMiB || mib < 16 {
				return errors.New("want a limit of at least 16MiB, such as 400/512MiB")
			}
			gc.Limit = mib << 20
		}
		*field = gc
		return nil
	}
}
