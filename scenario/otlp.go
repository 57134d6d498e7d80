package scenario

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
)

// standardOTLP are the addresses that exporters send to by default.
var standardOTLP = []string{"127.0.0.1:4317", "127.0.0.1:4318"}

// ParseOTLP reads where spans are received: "on" for the default ports of exporters,
// on loopback, or an address such as "127.0.0.1:4318".
func ParseOTLP(text string) ([]string, error) {
	if text == "on" || text == "true" {
		return append([]string(nil), standardOTLP...), nil
	}
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || strings.ContainsAny(host, " /") {
		return nil, mistake.Newf("write on, or an address as 127.0.0.1:4318", "%.60q is not an address for receiving spans", text)
	}
	return []string{text}, nil
}

// loopbackAddress reports whether only this host reaches an address.
func loopbackAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// validateOTLP checks that a listener reachable by others asks for a token.
func (o *Observe) validateOTLP() error {
	for _, address := range o.OTLP {
		if _, err := ParseOTLP(address); err != nil {
			return err
		}
		if !loopbackAddress(address) && o.OTLPToken == "" {
			return mistake.Newf("set REDLINE_OTLP_TOKEN, or otlp_token in the file, and "+
				"OTEL_EXPORTER_OTLP_HEADERS=\"authorization=Bearer <token>\" where spans come from",
				"%s is reachable from other hosts, and anyone could send spans", address)
		}
	}
	if len(o.OTLP) > 0 && strings.ContainsAny(o.OTLPToken, " \t\r\n") {
		return errors.New("otlp_token contains a space, which a header value cannot")
	}
	return nil
}
