package run

import (
	"context"

	"github.com/redline-go/redline/load/fence"
	"github.com/redline-go/redline/scenario"
)

// Elsewhere returns the hosts that a plan puts load on, that are not this one and
// that it does not name, and says each with its addresses. A run does not go
// there: who asked a person adds them to the plan's Hosts.
func Elsewhere(ctx context.Context, p *scenario.Plan) (hosts, described []string, err error) {
	away, err := fence.Elsewhere(ctx, p)
	for _, a := range away {
		hosts, described = append(hosts, a.Host), append(described, a.String())
	}
	return hosts, described, err
}

// staysHere is the error of an unconfirmed plan that leaves this
// host.
func staysHere(ctx context.Context, p *scenario.Plan) error {
	away, err := fence.Elsewhere(ctx, p)
	if err == nil && len(away) > 0 {
		err = &fence.AwayError{Away: away[0]}
	}
	return err
}
