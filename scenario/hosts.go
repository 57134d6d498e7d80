package scenario

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/redact"
)

// hosts decodes the hosts besides this one that load may go to.
func (d *decoder) hosts(n ast.Node) {
	for _, e := range d.elements(n, "hosts") {
		var host string
		scalar(d, e, "hosts", &host, checkHost)
		d.plan.Hosts = append(d.plan.Hosts, host)
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?$`)

// checkHost checks a name or an address. Patterns are none: a list that names
// hosts one by one is read before it is believed.
func checkHost(text string) (string, error) {
	text = strings.TrimSpace(text)
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return a.String(), nil
	}
	if !hostName.MatchString(text) {
		return "", mistakef("write a name or an address alone, as shop.example or 10.0.0.7", "%.80q is not a host", redact.Text(text))
	}
	return text, nil
}
