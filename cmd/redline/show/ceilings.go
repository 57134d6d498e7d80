package show

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/knee/session"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/run/ceiling"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/document"
)

// ceilings measures what this machine allows, and compares it with the demand of about:
// a URL, a scenario, the directory of a knee, or nothing.
func ceilings(ctx context.Context, about, dsn string, reconnect bool) (*ceiling.Report, error) {
	d, plan, err := demandOf(about)
	if err != nil {
		return nil, err
	}
	d.Reconnects = reconnect
	if dsn == "" && plan != nil {
		dsn = plan.Observe.Postgres
	}
	measured, err := ceiling.Measure(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return ceiling.Layers(measured, ceiling.ReadLimits(), d), nil
}

// demandOf returns what an argument asks for; plan is nil unless it names a scenario.
func demandOf(about string) (d ceiling.Demand, plan *scenario.Plan, err error) {
	switch {
	case about == "":
		return d, nil, nil
	case session.Kept(about):
		answer, err := session.Read(about)
		if err != nil {
			return d, nil, err
		}
		d = ceiling.Demand{From: "the knee of " + answer.Header.Target, Rate: answer.AtLeast, TLS: encrypted(answer.Header.Target)}
		if answer.Knee != nil {
			d.Rate = answer.Knee.Rate
		}
		return d, nil, nil
	case strings.Contains(about, "://"):
		// A URL does not say how much load: the defaults of a run are not a demand.
		return ceiling.Demand{From: redact.Text(about), TLS: encrypted(about)}, nil, nil
	default:
		plan, err = document.Read(about)
	}
	if err != nil {
		return d, nil, err
	}
	return asks(plan), plan, nil
}

// asks reads a plan's demand.
func asks(p *scenario.Plan) ceiling.Demand {
	d := ceiling.Demand{From: p.Name, Rate: p.Load.Rate, Connections: p.Load.Connections}
	if !p.Load.Open() { // an open loop's connections are a limit, not a demand, unless they were set
		d.Connections = p.Load.WithDefaults().Connections
	}
	for _, q := range p.Requests {
		d.TLS = d.TLS || encrypted(string(q.URL))
		if body := strings.TrimSpace(string(q.Body)); strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
			d.Body = max(d.Body, len(body))
		}
	}
	return d
}

func encrypted(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains([]string{"https", "grpcs", "wss"}, scheme)
}

// printCeilings writes what each layer allows, the lowest first.
func printCeilings(w io.Writer, r *ceiling.Report) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "\nceilings of this machine, for a program that does nothing else\n")
	unit := ""
	for _, layer := range r.Layers {
		if layer.Unit != unit {
			unit = layer.Unit
			inert.Fprintf(out, "  %s: the first limit is %s\n", unit, r.First[unit])
		}
		state := "ok"
		switch {
		case layer.Name == r.First[unit]:
			state = "first"
		case !layer.Counts:
			state = "-"
		}
		inert.Fprintf(out, "  %s\t%s\t%s\t%s\n", state, layer.Name, notation.Count(int64(layer.Allows)), layer.Basis)
		if layer.Used > 0 && layer.Counts {
			inert.Fprintf(out, "  \t\t\tthe load needs %s of it\n", notation.Percent(layer.Used))
		}
		if state == "first" || layer.Counts && layer.Used > most {
			inert.Fprintf(out, "  \t\t\tto raise: %s\n", layer.Raise)
			inert.Fprintf(out, "  \t\t\tcosts: %s\n", layer.Cost)
		}
	}
	for _, missing := range r.Measured.Missing {
		inert.Fprintf(out, "  not measured\t%s\n", missing)
	}
	if r.Demand.From != "" && r.Demand.Rate > 0 {
		inert.Fprintf(out, "  %s needs %s/s\n", r.Demand.From, notation.Rate(r.Demand.Rate))
	}
	return out.Flush()
}

// most is the share of a ceiling above which its remedy is printed, even if it is not the first limit.
const most = 0.5
