package code

import "strings"

const (
	// probeModule is what a service links by itself. Builds put the same packages as
	// injected into the service's own module (see package probe), so by its path it would
	// be the service's.
	probeModule = "github.com/redline-go/redline/probe"
	injected    = "/internal/redlineprobe/"
	// hooksFile is the file that builds add to packages whose functions they wrap (see
	// service/instrument).
	hooksFile = "/zz_redline_hooks.go"
)

// Probe reports whether a frame is redline's own within the service: its probe, linked or
// injected, or its hooks. Wrapped functions keep their bodies and are not; see Plain.
func Probe(f Frame) bool {
	if strings.Contains(f.Function, injected) || strings.HasSuffix(f.File, hooksFile) {
		return true
	}
	rest, ok := strings.CutPrefix(f.Function, probeModule)
	return ok && rest != "" && (rest[0] == '/' || rest[0] == '.')
}
