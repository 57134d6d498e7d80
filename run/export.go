package run

import (
	"path/filepath"

	"github.com/redline-go/redline/export"
	"github.com/redline-go/redline/record/timebase"
)

// openExporters opens the run's exporters. An address that is taken is
// an input error, so it comes before the target is built.
func (c *conductor) openExporters() (err error) {
	c.exporters, err = export.Open(export.Options{
		Export: c.Plan.Export, Clock: c.clock, Window: timebase.DefaultWindow, Version: c.Version,
	})
	if err != nil {
		return err
	}
	if page := c.exporters.Page(); page != "" {
		c.event(Event{Phase: "Prometheus can scrape figures at " + page})
	}
	return nil
}

// beginExport puts the exporters next to the record.
func (c *conductor) beginExport() {
	name := filepath.Base(c.bundle.Dir())
	if abs, err := filepath.Abs(c.bundle.Dir()); err == nil {
		name = filepath.Base(abs)
	}
	c.tee = c.exporters.Tee(c.bundle, export.Identity{
		Run: name, Scenario: c.Plan.Name, Service: export.ServiceName(c.target.Info()),
	}, c.Hide)
}
