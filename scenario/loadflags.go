package scenario

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// apply overrides the load by flags.
func (l *Load) apply(f Flags) error {
	wasOpen := l.Open()
	if err := l.applyModel(f); err != nil {
		return err
	}
	if wasOpen != l.Open() && len(l.Stages) > 0 {
		return mistake.Newf("change the file's load instead", "the scenario's stages do not fit the other kind of load")
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		to    *time.Duration
	}{{"-d", f.Duration, &l.Duration}, {"--timeout", f.Timeout, &l.Timeout}, {"--grace", f.Grace, &l.Grace}} {
		if d.value < 0 {
			return fmt.Errorf("%s: duration %v is negative", d.flag, d.value)
		}
		if d.value != 0 {
			*d.to = d.value
		}
	}
	if f.Warmup != nil {
		l.Warmup = *f.Warmup
	}
	return l.applyConnections(f)
}

// applyModel lets -c, --rate or --rate-per-connection lead.
func (l *Load) applyModel(f Flags) error {
	wasOpen := l.Open()
	if f.Rate != "" && f.PerConnection != "" {
		return mistake.Newf("keep one; the rates of all connections add up to the rate",
			"--rate and --rate-per-connection exclude each other")
	}
	switch {
	case f.Rate != "":
		rate, err := scalar.ParseRate(f.Rate)
		if err != nil {
			return fmt.Errorf("--rate: %w", err)
		}
		if !wasOpen || l.PerConnection > 0 {
			l.Connections = 0 // it led the load and is no cap
		}
		l.Rate, l.PerConnection = rate, 0
	case f.PerConnection != "":
		rate, err := scalar.ParseRate(f.PerConnection)
		if err != nil {
			return fmt.Errorf("--rate-per-connection: %w", err)
		}
		if wasOpen && l.PerConnection == 0 {
			l.Connections = 0 // it was a cap and leads now
		}
		if l.Replay == nil {
			l.Rate = rate // until Validate multiplies it
		}
		l.PerConnection = rate
	case f.Connections != 0 && l.PerConnection == 0:
		l.Rate = 0
	}
	if f.Connections != 0 {
		l.Connections = f.Connections
	}
	if f.Poisson {
		l.Arrivals = PoissonArrivals
	}
	if f.Think != "" {
		think, err := ParseThink(f.Think)
		if err != nil {
			return fmt.Errorf("--think: %w", err)
		}
		l.Think = think
	}
	return nil
}

// applyConnections sets how many, how fast and from where.
func (l *Load) applyConnections(f Flags) error {
	if f.Requests != 0 {
		l.Requests = f.Requests
	}
	if f.Streams != 0 {
		l.Streams = f.Streams
	}
	if f.Threads != 0 {
		l.Threads = f.Threads
	}
	if f.ConnectRate != "" {
		rate, err := scalar.ParseRate(f.ConnectRate)
		if err != nil {
			return fmt.Errorf("--connect-rate: %w", err)
		}
		l.ConnectRate = rate
	}
	if len(f.Sources) > 0 {
		l.Sources = make([]netip.Addr, len(f.Sources))
		for i, text := range f.Sources {
			addr, err := ParseSource(text)
			if err != nil {
				return fmt.Errorf("--source: %w", err)
			}
			l.Sources[i] = addr
		}
	}
	return nil
}

// applyProtocol overrides the protocol.
func (p *Plan) applyProtocol(f Flags) error {
	if f.HTTP2 {
		p.Protocol = protocol.HTTP2
	}
	if f.Follow {
		requests := make([]Request, len(p.Requests))
		for i, r := range p.Requests {
			r.Follow = true
			requests[i] = r
		}
		p.Requests = requests
	}
	if f.DescriptorSet != "" {
		data, err := file.ReadFlag("--descriptor-set", f.DescriptorSet, file.MaxDescriptor)
		if err != nil {
			return err
		}
		if len(data) == 0 {
			return mistake.Newf(DescriptorHint, "--descriptor-set: %s is empty", f.DescriptorSet)
		}
		p.GRPC = GRPC{DescriptorFile: f.DescriptorSet, Descriptor: data}
	}
	return p.TLS.apply(f)
}
