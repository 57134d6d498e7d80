package document

import (
	"net/textproto"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

func (d *decoder) root(n ast.Node) {
	// Requests refer to the feeders and to the plan's protocol, so they are decoded
	// last wherever they stand in the file.
	var requests ast.Node
	seen := d.mapping(n, "a scenario", []key{
		{name: "data", decode: (*decoder).data},
		{name: "target", decode: (*decoder).target},
		{name: "load", decode: (*decoder).load},
		{name: "requests", decode: func(_ *decoder, n ast.Node) { requests = n }},
		{name: "protocol", decode: func(d *decoder, n ast.Node) { parsed(d, n, "protocol", &d.plan.Protocol, protocol.Parse) }},
		{name: "tls", decode: (*decoder).tls},
		{name: "grpc", decode: (*decoder).grpc},
		{name: "observe", decode: (*decoder).observe},
		{name: "export", decode: (*decoder).export},
		{name: "thresholds", decode: (*decoder).thresholds},
		{name: "verify", decode: (*decoder).verify},
		{name: "hosts", decode: (*decoder).hosts},
		{name: "redact", decode: (*decoder).redact},
		{name: "faults", later: true},
	})
	d.remember("", seen)
	if d.plan.Data == nil {
		d.plan.Data = map[string]*feeder.Table{}
	}
	if d.replayAt != nil {
		if at := seen["requests"]; at != nil {
			d.fail(at, "the log has the requests; replay takes base, headers and methods", "requests and load.replay exclude each other")
			return
		}
		d.replay(d.replayAt)
		return
	}
	if seen["requests"] == nil {
		if len(d.errs) == 0 { // else it may be the unknown key
			d.note(&mistake.Error{File: d.file, Msg: "the scenario has no requests",
				Hint: `add requests: [ {get: "http://127.0.0.1:8080/"} ]`})
		}
		return
	}
	d.requests(requests, seen["requests"])
}

func (d *decoder) observe(n ast.Node) {
	o := &d.plan.Observe
	d.mapping(n, "observe", []key{
		{name: "pprof", decode: func(d *decoder, n ast.Node) { parsed(d, n, "pprof", &o.Pprof, protocol.CheckURL) }},
		{name: "postgres", decode: func(d *decoder, n ast.Node) {
			if dsn, _, ok := d.expanded(n, "postgres"); ok {
				o.Postgres = dsn
			}
		}},
		{name: "otlp", decode: func(d *decoder, n ast.Node) { parsed(d, n, "otlp", &o.OTLP, scenario.ParseOTLP) }},
		{name: "otlp_token", decode: func(d *decoder, n ast.Node) {
			if token, _, ok := d.expanded(n, "otlp_token"); ok {
				o.OTLPToken = token
			}
		}},
	})
}

func (d *decoder) thresholds(n ast.Node) {
	for _, e := range d.elements(n, "thresholds") {
		var t criteria.Threshold
		before := len(d.errs)
		parsed(d, e, "threshold", &t, criteria.ParseThreshold)
		if len(d.errs) == before {
			d.plan.Thresholds = append(d.plan.Thresholds, t)
		}
	}
}

func (d *decoder) redact(n ast.Node) {
	for _, e := range d.elements(n, "redact") {
		var name string
		parsed(d, e, "redact", &name, protocol.CheckHeader)
		d.plan.Redact = append(d.plan.Redact, textproto.CanonicalMIMEHeaderKey(name))
	}
}

// hosts decodes the other hosts that load may go to.
func (d *decoder) hosts(n ast.Node) {
	for _, e := range d.elements(n, "hosts") {
		var host string
		parsed(d, e, "hosts", &host, protocol.CheckHost)
		d.plan.Hosts = append(d.plan.Hosts, host)
	}
}

// export decodes the section. Its values may hold variables: URLs have
// passwords in them.
func (d *decoder) export(n ast.Node) {
	x := &d.plan.Export
	text := func(name string, to *string) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) {
			if value, _, ok := d.expanded(n, name); ok {
				*to = value
			}
		}}
	}
	d.mapping(n, "export", []key{
		text("prometheus", &x.Prometheus), text("prometheus_token", &x.PrometheusToken),
		text("pyroscope", &x.Pyroscope), text("pyroscope_token", &x.PyroscopeToken),
		text("otlp", &x.OTLP), text("otlp_token", &x.OTLPToken),
	})
	for name, to := range map[string]*string{
		scenario.PrometheusTokenVariable: &x.PrometheusToken,
		scenario.PyroscopeTokenVariable:  &x.PyroscopeToken, scenario.OTLPMetricsTokenVariable: &x.OTLPToken,
	} {
		if value, set := d.env(name); set && *to == "" {
			*to = value
		}
	}
}

// verify decodes the section. A margin alone makes its metric decide, unless the
// section lists the primary ones; `off` leaves it out.
func (d *decoder) verify(n ast.Node) {
	var primary []ast.Node
	keys := []key{{name: "primary", decode: func(d *decoder, n ast.Node) { primary = d.elements(n, "primary") }}}
	for _, name := range criteria.Compared() {
		keys = append(keys, key{name: name, decode: func(d *decoder, n ast.Node) { d.comparison(n, name) }})
	}
	d.mapping(n, "verify", keys)
	for _, n := range primary {
		d.primary(n)
	}
}

// primary makes a metric decide. It may have a margin of its own in the section.
func (d *decoder) primary(n ast.Node) {
	var name string
	if parsed(d, n, "primary", &name, criteria.ParseMetric); name == "" {
		return
	}
	i := slices.IndexFunc(d.plan.Verify, func(c criteria.Comparison) bool { return c.Metric == name })
	if i < 0 {
		i, d.plan.Verify = len(d.plan.Verify), append(d.plan.Verify, criteria.Comparison{Metric: name})
	}
	c := &d.plan.Verify[i]
	if c.Advisory || c.Off {
		d.fail(n, "remove it from one of the two", "%s is primary, and advisory or off", name)
	}
	c.Primary = true
}

func (d *decoder) comparison(n ast.Node, name string) {
	c := criteria.Comparison{Metric: name}
	if _, nested := n.(*ast.MappingNode); nested {
		d.mapping(n, name, []key{
			{name: "margin", decode: func(d *decoder, n ast.Node) { parsed(d, n, "margin", &c.Margin, criteria.ParseMargin) }},
			{name: "advisory", decode: func(d *decoder, n ast.Node) { parsed(d, n, "advisory", &c.Advisory, scalar.ParseBool) }},
		})
	} else if text, ok := d.text(n, name); !ok {
		return
	} else if text == "off" {
		c.Off = true
	} else if margin, err := criteria.ParseMargin(text); err != nil {
		d.failErr(n, name, err)
		return
	} else {
		c.Margin = margin
	}
	d.plan.Verify = append(d.plan.Verify, c)
}

// tls decodes how to connect to https, grpcs and wss.
func (d *decoder) tls(n ast.Node) {
	t := &d.plan.TLS
	pemFile := func(name string, to *string, data *[]byte, check func([]byte) error) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) {
			*data, *to = d.read(n, name, file.MaxPEM)
			if err := check(*data); *data != nil && err != nil {
				d.failErr(n, name, err)
			}
		}}
	}
	before := len(d.errs)
	seen := d.mapping(n, "tls", []key{
		pemFile("ca", &t.CAFile, &t.CA, scenario.CheckRoots),
		pemFile("cert", &t.CertFile, &t.Cert, scenario.CheckPEM("CERTIFICATE")),
		pemFile("key", &t.KeyFile, &t.Key, scenario.CheckPEM("PRIVATE KEY")),
		{name: "server_name", decode: func(d *decoder, n ast.Node) { parsed(d, n, "server_name", &t.ServerName, scalar.ParseText) }},
		{name: "insecure", decode: func(d *decoder, n ast.Node) { parsed(d, n, "insecure", &t.Insecure, scalar.ParseBool) }},
	})
	d.remember("tls", seen)
	if len(d.errs) > before {
		return
	}
	if err := t.Validate(); err != nil {
		d.conflict(err)
	}
}

// grpc decodes where the schema of a gRPC plan comes from.
func (d *decoder) grpc(n ast.Node) {
	g := &d.plan.GRPC
	d.remember("grpc", d.mapping(n, "grpc", []key{
		{name: "descriptor_set", decode: func(d *decoder, n ast.Node) {
			g.Descriptor, g.DescriptorFile = d.read(n, "descriptor_set", file.MaxDescriptor)
			if g.DescriptorFile != "" && len(g.Descriptor) == 0 {
				d.fail(n, scenario.DescriptorHint, "descriptor_set: the file is empty")
			}
		}},
	}))
}
