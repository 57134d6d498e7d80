// Package probe carries the source of redline's probe, so that redline can
// build it into a program that never heard of it, and provides it rewritten
// for that program's module.
//
// The probe itself lives in the packages below. A program that wants it without
// redline's build imports one of them for its side effect:
//
//	import _ "github.com/redline-go/redline/probe/auto"
//
// The packages and what each is for:
//
//	env      the configuration that redline gives the probe, through the environment
//	ring     the shared memory: its layout, its writer, its reader
//	sampler  runtime/metrics and process figures into the ring, each window
//	control  profiles and traces on demand over a Unix socket
//	operations  counts statements and calls, from hooks that redline's build adds
//	slots    the connection pools that a program shows, by name
//	auto     starts sampler, control and operations in a program that redline started
//
// Two more are for programs to call, and are not injected:
//
//	pool     shows connection pools: how full they are, how long the program waits for them
//	request  marks requests in execution traces
//
// Package probetest is for the probe's own tests. These packages belong to redline's own module, so that the command embeds them and
// can be installed by its path. A release also tags them as a module without
// requirements (scripts/release.sh), which `go get` in a service's module finds first.
//
// Everything here is standard library only, because it is linked into other
// people's services, and is written in the Go of 2021 (no type parameters, no
// range over integers, no min and max): injected files are compiled with the
// language version of the module that they land in, and at least with that of 2021 (ForOld).
//
// Rejected: one generated file. Import cycles and name clashes are avoided just as
// well if the packages stay separate below an internal directory, and the code
// that runs in the target is then the code that the tests here exercise.
package probe

import "embed"

// Source holds the Go files of the packages that are injected. Test files are
// in it too, because embed patterns cannot leave them out; Files does.
//
//go:embed auto/*.go control/*.go env/*.go operations/*.go ring/*.go sampler/*.go slots/*.go
var Source embed.FS
