package operation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/redline-go/redline/record/database"
)

// ServerPlans are a PostgreSQL server's plans of the statements that take most time. A run has them only
// if that server counts no statements itself.
type ServerPlans struct {
	Plans []ServerPlan `json:"plans"`
	// Why says why statements have no plan; "" if nothing stood in the way of all.
	Why string `json:"why,omitempty"`
	// Trip is how long the shortest statement took from redline to the server and back; 0 if unknown.
	Trip time.Duration `json:"round_trip_ns,omitempty"`
	// Tables are those that the plans read, a bounded number; Planner is nil if they were not read.
	Tables  []database.Table  `json:"tables,omitempty"`
	Planner *database.Planner `json:"planner,omitempty"`
}

// ServerPlan is the plan of one operation's statement.
type ServerPlan struct {
	Text string `json:"text"` // the operation's
	// Plan is EXPLAIN (FORMAT JSON), a generic plan; nil if there is none, and then Error says why.
	Plan  json.RawMessage `json:"plan,omitempty"`
	Error string          `json:"error,omitempty"`
}

// ServerPlanOf returns the server's plan of an operation's text; nil if it was not asked for it.
func (o *Operations) ServerPlanOf(text string) *ServerPlan {
	if o.Postgres == nil {
		return nil
	}
	i := slices.IndexFunc(o.Postgres.Plans, func(p ServerPlan) bool { return p.Text == text })
	if i < 0 {
		return nil
	}
	return &o.Postgres.Plans[i]
}
