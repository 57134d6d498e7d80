package run

import (
	"context"

	"github.com/redline-go/redline/load/fence"
	"github.com/redline-go/redline/scenario"
)

// Elsewhere returns the hosts that a plan puts load on, except this one and those
// that the plan names, and describes each with its addresses. A run refuses to load
// them: the caller adds them to the plan's Hosts once a person has agreed.
func Elsewhere(ctx context.Context, p *scenario.Plan) (hosts, described []string, err error) {
	away, err := fence.Elsewhere(ctx, p)
	for _, a := range away {
		hosts, described = append(hosts, a.Host), append(described, a.String())
	}
	return hosts, described, err
}

// staysHere returns an error if a plan leaves this host without confirmation.
func staysHere(ctx context.Context, p *scenario.Plan) error {
	away, err := fence.Elsewhere(ctx, p)
	if err == nil && len(away) > 0 {
		err = &fence.AwayError{Away: away[0]}
	}
	return err
}
