package export

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// Options says where a run is shown. Clock is required. The plan's export
// section is valid (scenario checks it).
type Options struct {
	Export  scenario.Export
	Clock   timebase.Clock
	Window  time.Duration // zero means timebase.DefaultWindow
	Version string        // of redline
}

// Identity holds a run's names, on everything that is exported.
type Identity struct {
	Run      string // the bundle's directory name
	Scenario string
	Service  string // the target's name; ServiceName makes one
}

// ServiceName returns a target's name: its main package, its command,
// or its host, whichever is known.
func ServiceName(t record.Target) string {
	if t.MainPkg != "" {
		return last(t.MainPkg)
	}
	if len(t.Command) > 0 && t.Command[0] != "" {
		return last(t.Command[0])
	}
	if u, err := url.Parse(t.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "unknown_service" // as OpenTelemetry calls it
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Exporters are the receivers of one run, none when nothing is exported. They
// take windows once Tee is called.
type Exporters struct {
	Options
	every     time.Duration // windows are sent so often
	page      *page
	remote    *remote
	otlp      *otlp
	pyroscope *pyroscope
}

// Open listens where a page was asked for. An error is one of input: an
// address that is taken, or a URL that is none. Receivers that do not answer are
// none.
func Open(o Options) (*Exporters, error) {
	if o.Window == 0 {
		o.Window = timebase.DefaultWindow
	}
	e := &Exporters{Options: o, every: time.Second}
	x := o.Export
	to, err := parse(x.OTLP, "OTLP metrics")
	if to != nil {
		e.otlp = newOTLP(newPusher("OTLP receiver", to, x.OTLPToken), o.Version, o.Clock.EpochWall)
	}
	to, err2 := parse(x.Pyroscope, "Pyroscope")
	if to != nil {
		e.pyroscope = newPyroscope(newPusher("Pyroscope", to, x.PyroscopeToken), o.Clock, o.Window)
	}
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	if strings.Contains(x.Prometheus, "://") {
		if to, err = parse(x.Prometheus, "Prometheus"); err != nil {
			return nil, err
		}
		e.remote = newRemote(newPusher("Prometheus", to, x.PrometheusToken))
	} else if x.Prometheus != "" {
		if e.page, err = listen(x.Prometheus, x.PrometheusToken); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func parse(text, name string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: it is not a URL", name) // whose error would show it
	}
	return u, nil
}

// Page returns the URL of the page that is scraped, or "".
func (e *Exporters) Page() string {
	if e.page == nil {
		return ""
	}
	return "http://" + e.page.listener.Addr().String() + "/metrics"
}

// Abandon closes the exporters, for a run that has no Tee.
func (e *Exporters) Abandon() {
	if e.page != nil {
		_ = e.page.shut()
	}
}

// sink is an exporter of windows.
type sink interface {
	windows(all []window)
	close() string
}

// sinks returns the exporters of windows that there are.
func (e *Exporters) sinks() (all []sink) {
	if e.page != nil {
		all = append(all, e.page)
	}
	if e.remote != nil {
		all = append(all, e.remote)
	}
	if e.otlp != nil {
		all = append(all, e.otlp)
	}
	return all
}

// begin readies the exporters for a run.
func (e *Exporters) begin(id Identity) {
	common := []label{{"run", text8(id.Run)}, {"scenario", text8(id.Scenario)}}
	if e.page != nil {
		e.page.begin(common)
	}
	if e.remote != nil {
		e.remote.begin(common)
	}
	if e.otlp != nil {
		e.otlp.begin(id)
	}
	if e.pyroscope != nil {
		e.pyroscope.begin(id)
	}
}

// close closes all at once, because each may take its grace time, and returns
// the losses.
func (e *Exporters) close() []string {
	all := []func() string{}
	for _, s := range e.sinks() {
		all = append(all, s.close)
	}
	if e.pyroscope != nil {
		all = append(all, e.pyroscope.close)
	}
	reported := make([]string, len(all))
	var done sync.WaitGroup
	for i, f := range all {
		done.Go(func() { reported[i] = f() })
	}
	done.Wait()
	var warnings []string
	for _, text := range reported {
		if text != "" {
			warnings = append(warnings, text)
		}
	}
	return warnings
}
