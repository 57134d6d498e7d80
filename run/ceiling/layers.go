package ceiling

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
)

// Measured are this machine's own speeds, per second over all CPUs. 0 is not measured.
type Measured struct {
	CPUs       int           `json:"cpus"`
	RoundTrip  time.Duration `json:"round_trip_ns"` // one at a time, over loopback
	RoundTrips float64       `json:"round_trips"`   // over loopback, as many at once as CPUs
	Syscalls   float64       `json:"syscalls"`
	Accepts    float64       `json:"accepts"`    // connections opened, accepted and closed
	Handshakes float64       `json:"handshakes"` // TLS 1.3, P-256, both ends
	JSON       float64       `json:"json_bytes"` // bytes decoded into structs and encoded again
	Fsyncs     float64       `json:"fsyncs"`     // one after another, of 4 KiB
	Statements float64       `json:"statements,omitempty"`
	// Missing says what could not be measured, and why.
	Missing []string `json:"missing,omitempty"`
}

// Limits are the kernel's. 0 is no limit, or not known.
type Limits struct {
	Backlog    int64 `json:"backlog"` // net.core.somaxconn
	SynBacklog int64 `json:"syn_backlog"`
	Ports      int64 `json:"ports"` // of ip_local_port_range
	Files      int64 `json:"files"` // nofile, soft
	MostFiles  int64 `json:"most_files"`
	// Conntrack are the entries that are free, of MostConntrack.
	Conntrack     int64 `json:"conntrack"`
	MostConntrack int64 `json:"most_conntrack"`
	// Buffers are the bytes that all TCP sockets may use, Socket those of one socket with
	// both buffers at their initial size.
	Buffers int64 `json:"buffers"`
	Socket  int64 `json:"socket"`
}

// Demand is what a load asks for. The zero Demand asks for nothing in particular.
type Demand struct {
	From        string  `json:"from,omitempty"`        // the origin of the demand, in words
	Rate        float64 `json:"rate,omitempty"`        // requests per second
	Connections int     `json:"connections,omitempty"` // at a time
	Reconnects  bool    `json:"reconnects,omitempty"`  // a connection for each request
	TLS         bool    `json:"tls,omitempty"`
	Body        int     `json:"body,omitempty"` // bytes of JSON per request
}

// Units of a layer.
const (
	Requests    = "requests/s"
	Connections = "connections"
)

// Layer is one ceiling.
type Layer struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Allows float64 `json:"allows"`
	Basis  string  `json:"basis"`
	// Counts is whether the load goes through this layer; one that it does not go
	// through is listed for information.
	Counts bool `json:"counts"`
	// Used is the part that the load asks for; 0 is not known.
	Used  float64 `json:"used,omitempty"`
	Raise string  `json:"raise"` // the command, or the change
	Cost  string  `json:"cost"`  // of raising it
}

// Report is a machine's ceilings for a load.
type Report struct {
	Measured Measured `json:"measured"`
	Limits   Limits   `json:"limits"`
	Demand   Demand   `json:"demand"`
	Layers   []Layer  `json:"layers"` // by unit, the lowest first
	// First names the layer of each unit that binds first.
	First map[string]string `json:"binds_first"`
}

const (
	// callsEach is the least number of system calls of a request: a read and a write on
	// both sides.
	callsEach = 4
	// timeWait is how long a closed connection keeps its port (TCP_TIMEWAIT_LEN of
	// include/net/tcp.h), in seconds.
	timeWait = 60
)

// Layers returns what each layer allows, and which binds first.
func Layers(m Measured, l Limits, d Demand) *Report {
	r := &Report{Measured: m, Limits: l, Demand: d, First: map[string]string{}}
	r.rates()
	r.connections()
	for i := range r.Layers {
		layer := &r.Layers[i]
		asked := d.Rate
		if layer.Unit == Connections {
			asked = float64(d.Connections)
		}
		if layer.Allows > 0 {
			layer.Used = asked / layer.Allows
		}
	}
	slices.SortStableFunc(r.Layers, func(a, b Layer) int {
		return cmp.Or(-cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Allows, b.Allows))
	})
	for _, layer := range r.Layers {
		if layer.Counts && r.First[layer.Unit] == "" {
			r.First[layer.Unit] = layer.Name
		}
	}
	return r
}

// add leaves out what was not measured.
func (r *Report) add(l Layer) {
	if l.Allows > 0 {
		r.Layers = append(r.Layers, l)
	}
}

// rates are the layers that bound requests per second.
func (r *Report) rates() {
	m, d := r.Measured, r.Demand
	perCPU := fmt.Sprintf("a faster CPU or more than %d of them; the generator on another machine", m.CPUs)
	r.add(Layer{
		Name: "TCP round trips", Unit: Requests, Allows: m.RoundTrips, Counts: true,
		Basis: fmt.Sprintf("measured over loopback on %d CPUs; %s each, one at a time", m.CPUs, notation.Time(m.RoundTrip)),
		Raise: perCPU, Cost: "money; the network's latency",
	})
	r.add(Layer{
		Name: "system calls", Unit: Requests, Allows: m.Syscalls / callsEach, Counts: true,
		Basis: fmt.Sprintf("%s/s measured; at least %d per request", notation.Rate(m.Syscalls), callsEach),
		Raise: "several requests per call: HTTP pipelining, HTTP/2 streams, buffered writes", Cost: "answers wait for their batch",
	})
	if d.Body > 0 && m.JSON > 0 {
		r.add(Layer{
			Name: "JSON", Unit: Requests, Allows: m.JSON / float64(d.Body), Counts: true,
			Basis: fmt.Sprintf(
				"%s/s decoded and encoded by encoding/json, %s per request",
				notation.Size(m.JSON),
				notation.Size(float64(d.Body)),
			),
			Raise: "smaller bodies, or generated code (easyjson, protobuf)", Cost: "a build step, another format for clients",
		})
	}
	r.add(Layer{
		Name: "new connections", Unit: Requests, Allows: m.Accepts, Counts: d.Reconnects,
		Basis: "opened, accepted and closed over loopback; only if each request opens one",
		Raise: "keep connections alive (no Connection: close; raise IdleTimeout)",
		Cost:  "a descriptor and some 20 KiB for each idle client",
	})
	r.add(Layer{
		Name: "TLS handshakes", Unit: Requests, Allows: m.Handshakes, Counts: d.TLS && d.Reconnects,
		Basis: "TLS 1.3 with P-256, both ends; only if each request opens a connection",
		Raise: "keep connections alive, or resume sessions", Cost: "tickets to rotate",
	})
	r.add(Layer{
		Name: "ports in TIME_WAIT", Unit: Requests, Allows: float64(r.Limits.Ports) / timeWait, Counts: d.Reconnects,
		Basis: fmt.Sprintf(
			"%s ports to one address, %d s each; only if each request opens a connection",
			notation.Count(r.Limits.Ports),
			timeWait,
		),
		Raise: "sysctl -w net.ipv4.ip_local_port_range='1024 65535'; sysctl -w net.ipv4.tcp_tw_reuse=1",
		Cost:  "servers that listen above 1024 must be kept out (net.ipv4.ip_local_reserved_ports)",
	})
	r.add(Layer{
		Name: "statements", Unit: Requests, Allows: m.Statements, Counts: true,
		Basis: "SELECT 1 on the named database, at one statement per request",
		Raise: "fewer statements per request, a cache, pipelining", Cost: "stale answers, or code",
	})
	r.add(Layer{
		Name: "fsync", Unit: Requests, Allows: m.Fsyncs, Counts: false,
		Basis: "one after another; limits requests that commit separately",
		Raise: "commit in groups (PostgreSQL: commit_delay), or synchronous_commit=off",
		Cost:  "milliseconds of wait, or the last commits lost in a crash",
	})
}

// connections are the layers that bound connections at a time.
func (r *Report) connections() {
	l := r.Limits
	r.add(Layer{
		Name: "open files", Unit: Connections, Allows: float64(l.Files), Counts: true,
		Basis: fmt.Sprintf("nofile is %s, at most %s, for each process", notation.Count(l.Files), notation.Count(l.MostFiles)),
		Raise: fmt.Sprintf("ulimit -n %d; LimitNOFILE= of systemd, --ulimit nofile= of docker", max(l.MostFiles, 1<<20)),
		Cost:  "a process that leaks descriptors takes more before it fails",
	})
	r.add(Layer{
		Name: "local ports", Unit: Connections, Allows: float64(l.Ports), Counts: true,
		Basis: "net.ipv4.ip_local_port_range, from one address to one",
		Raise: "sysctl -w net.ipv4.ip_local_port_range='1024 65535'; or redline run --source with more addresses",
		Cost:  "servers that listen above 1024 must be kept out (net.ipv4.ip_local_reserved_ports)",
	})
	r.add(Layer{
		Name: "accept queue", Unit: Connections, Allows: float64(l.Backlog), Counts: false,
		Basis: "net.core.somaxconn, for connections that come at once; Go's net.Listen asks for all of it",
		Raise: "sysctl -w net.core.somaxconn=65535, and start the service again", Cost: "more clients wait before one is refused",
	})
	r.add(Layer{
		Name: "SYN queue", Unit: Connections, Allows: float64(l.SynBacklog), Counts: false,
		Basis: "net.ipv4.tcp_max_syn_backlog, for handshakes in progress",
		Raise: "sysctl -w net.ipv4.tcp_max_syn_backlog=65535", Cost: "memory under a SYN flood (keep tcp_syncookies=1)",
	})
	if l.MostConntrack > 0 { // a full table allows none
		r.Layers = append(r.Layers, Layer{
			Name: "conntrack", Unit: Connections, Allows: float64(l.Conntrack), Counts: true,
			Basis: "free entries of net.netfilter.nf_conntrack_max",
			Raise: "sysctl -w net.netfilter.nf_conntrack_max=1048576; or no tracking for the port (nft notrack)",
			Cost:  "some 320 bytes of kernel memory for each",
		})
	}
	if l.Socket > 0 {
		r.add(Layer{
			Name: "TCP buffers", Unit: Connections, Allows: float64(l.Buffers) / float64(l.Socket), Counts: true,
			Basis: fmt.Sprintf(
				"net.ipv4.tcp_mem is %s, a socket with full buffers takes %s",
				notation.Size(float64(l.Buffers)),
				notation.Size(float64(l.Socket)),
			),
			Raise: doubled(l.Buffers), Cost: "memory of the host; smaller buffers slow large answers",
		})
	}
}

// doubled is the command that doubles what TCP's buffers may use: the three numbers
// of pages of tcp_mem, which are low, pressure and high.
func doubled(buffers int64) string {
	pages := 2 * buffers / int64(os.Getpagesize())
	return fmt.Sprintf("sysctl -w net.ipv4.tcp_mem='%d %d %d'; or smaller tcp_rmem and tcp_wmem", pages/2, pages*2/3, pages)
}
