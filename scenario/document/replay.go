package document

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// replay decodes a log to replay and puts it into the plan.
func (d *decoder) replay(n ast.Node) {
	var s scenario.ReplaySource
	var fileAt ast.Node
	var headers []header
	before := len(d.errs)
	seen := d.mapping(n, "replay", []key{
		{name: "file", decode: func(_ *decoder, n ast.Node) { fileAt = n }},
		{name: "format", decode: func(d *decoder, n ast.Node) { parsed(d, n, "format", &s.Format, scalar.OneOf("combined", "jsonl")) }},
		{name: "base", decode: func(d *decoder, n ast.Node) { parsed(d, n, "base", &s.Base, scenario.CheckBase) }},
		{name: "speed", decode: func(d *decoder, n ast.Node) { parsed(d, n, "speed", &s.Speed, scenario.ParseSpeed) }},
		{name: "methods", decode: func(d *decoder, n ast.Node) {
			for _, e := range d.elements(n, "methods") {
				var method string
				parsed(d, e, "methods", &method, protocol.CheckMethod)
				s.Methods = append(s.Methods, method)
			}
		}},
		{name: "headers", decode: func(d *decoder, n ast.Node) { headers = d.headers(n, &s.Shared) }},
		{name: "follow", decode: func(d *decoder, n ast.Node) { parsed(d, n, "follow", &s.Shared.Follow, scalar.ParseBool) }},
	})
	for _, name := range []string{"file", "base"} {
		if seen[name] == nil && len(d.errs) == before {
			d.fail(n, `write {file: access.log, base: "http://127.0.0.1:8080"}`, "replay has no %s", name)
		}
	}
	for _, h := range headers {
		d.checkTemplate(h.at, feeder.Template(h.value), feeder.CompileHeader)
	}
	if len(d.errs) > before {
		return
	}
	if at := d.nodes["data."+scenario.ReplayFeeder]; at != nil {
		d.fail(at, "give it another name", "the feeder %s is that of load.replay", scenario.ReplayFeeder)
		return
	}
	f, name := d.open(fileAt, "file")
	if f == nil {
		return
	}
	defer f.Close()
	s.File = name
	if err := s.Into(d.plan, f); err != nil {
		d.failErr(fileAt, "file", fmt.Errorf("%s: %w", name, err))
	}
}
