package scenario

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario/mistake"
)

// Environment variables that hold the tokens, if the file gives none. A flag would
// show them to whoever lists processes.
const (
	PrometheusTokenVariable  = "REDLINE_PROMETHEUS_TOKEN"
	PyroscopeTokenVariable   = "REDLINE_PYROSCOPE_TOKEN"
	OTLPMetricsTokenVariable = "REDLINE_OTLP_METRICS_TOKEN"
)

// Export says where a run is shown as it goes; the zero Export shows it nowhere.
// Tokens are bearer tokens and never recorded; the userinfo of a URL is basic
// authentication.
type Export struct {
	// Prometheus is an address to be scraped at, or the URL of a receiver of
	// remote write.
	Prometheus string `json:"prometheus,omitempty"`
	Pyroscope  string `json:"pyroscope,omitempty"` // base URL
	OTLP       string `json:"otlp,omitempty"`      // of metrics, over HTTP; without a path /v1/metrics is meant

	PrometheusToken string `json:"-"` // to send, or to demand of scrapers
	PyroscopeToken  string `json:"-"`
	OTLPToken       string `json:"-"`
}

// redacted returns the export without the receivers' tokens.
func (x Export) redacted(hide *redact.Redactor) Export {
	for _, text := range []*string{&x.Prometheus, &x.Pyroscope, &x.OTLP} {
		if u, err := url.Parse(*text); err == nil && u.User != nil {
			u.User = nil // its name alone may be a token
			*text = u.String()
		}
		*text = hide.Text(*text)
	}
	return x
}

// validate checks the export, and puts the address of a page that names no host
// on loopback.
func (x *Export) validate() error {
	for _, one := range []struct{ name, url, token string }{
		{"prometheus", x.Prometheus, x.PrometheusToken}, {"pyroscope", x.Pyroscope, x.PyroscopeToken}, {"otlp", x.OTLP, x.OTLPToken},
	} {
		if strings.ContainsAny(one.token, " \t\r\n") {
			return mistake.Newf("", "export: %s_token contains a space, which a header value cannot", one.name)
		}
		if one.url == "" || one.name == "prometheus" && !strings.Contains(one.url, "://") {
			continue
		}
		if u, err := url.Parse(one.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return mistake.Newf("write it as http://host:port/path", "export: %s is not the URL of a receiver", one.name)
		}
	}
	if x.Prometheus == "" || strings.Contains(x.Prometheus, "://") {
		return nil
	}
	return x.validatePage()
}

func (x *Export) validatePage() error {
	host, port, err := net.SplitHostPort(x.Prometheus)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || strings.ContainsAny(host, " /") {
		return mistake.Newf("write 127.0.0.1:9464, or the URL of remote write, http://host:9090/api/v1/write",
			"export: %.60q is neither an address to scrape nor a URL", x.Prometheus)
	}
	if host == "" {
		x.Prometheus = net.JoinHostPort("127.0.0.1", port)
	}
	if !loopbackAddress(x.Prometheus) && x.PrometheusToken == "" {
		return mistake.Newf("set REDLINE_PROMETHEUS_TOKEN, or prometheus_token in the file, and the same as authorization "+
			"in Prometheus' scrape_configs",
			"export: %s is reachable from other hosts, and anyone could read the page", x.Prometheus)
	}
	return nil
}

// apply overrides the export by flags. A file's token is for the file's receiver,
// so a flag that names another receiver drops it.
func (x *Export) apply(f Export) {
	for _, one := range []struct{ to, token, from, env *string }{
		{&x.Prometheus, &x.PrometheusToken, &f.Prometheus, &f.PrometheusToken},
		{&x.Pyroscope, &x.PyroscopeToken, &f.Pyroscope, &f.PyroscopeToken},
		{&x.OTLP, &x.OTLPToken, &f.OTLP, &f.OTLPToken},
	} {
		if *one.from != "" && *one.from != *one.to {
			*one.to, *one.token = *one.from, ""
		}
		if *one.token == "" {
			*one.token = *one.env
		}
	}
}
