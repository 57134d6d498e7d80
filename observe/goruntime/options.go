package goruntime

import "time"

// Options sets the amount of data. The zero value is a run's default.
type Options struct {
	// CPULength is the maximum length of one CPU profile; several in a row cover a longer
	// steady span, so that an aborted run keeps the finished ones. Zero means 10 s; below
	// zero takes none.
	CPULength time.Duration
	// MutexFraction samples one in this many mutex contentions. Zero means 20;
	// below zero leaves the target's own setting. It needs the probe.
	MutexFraction int
	// BlockRate samples one blocking event per so much time blocked: shorter events are
	// sampled in proportion to their length and weighted. At the default, a goroutine that
	// is always blocked costs ten stacks per second. Zero means 100 ms; below zero leaves
	// the target's own setting. It needs the probe.
	BlockRate time.Duration

	// Traces is how many execution traces to take, evenly spread over the steady span. Zero
	// means one, plus one per 30 s beyond the first 30 s, up to three; below zero takes
	// none.
	Traces int
	// TraceLength is the maximum length of a trace. Zero means 2 s. A trace takes at most a
	// tenth of its share of the steady span; if a first slice shows few events, up to 5 s
	// and half of the steady span, so that the requests of a slow service fit in.
	TraceLength time.Duration
	// TraceBytes is the target size of all planned traces together: a trace is shortened if
	// a first slice of 200 ms shows a high event rate. Zero means 16 MB, which takes about
	// a second to analyse, in some ten times as much memory.
	TraceBytes int64
	// TraceMaxBytes is the maximum size of a trace, which then ends early. Zero means 64
	// MB.
	TraceMaxBytes int64
	// Flights is how often, at most, the flight recorder is read after a slow window. Zero
	// means 3; below zero leaves it off. It needs the probe, Go 1.25 in the target, and a
	// target whose events are few (FlightRate): the recorder traces all the time.
	Flights int
	// FlightRate is how many bytes of trace per second the target may produce for its flight recorder to be left on. Above
	// that, the planned traces have to suffice. Zero means 512 KiB: some 100,000 events, half a percent of a CPU.
	FlightRate int64
	// FlightLength is the time that the recorder keeps. Zero means 1 s.
	FlightLength time.Duration
	// FlightBytes is the recorder's memory in the target. Zero means 8 MB.
	FlightBytes int64
}

// defaults replaces zero values by what package documentation promises for them.
func (o Options) defaults() Options {
	set(&o.CPULength, 10*time.Second)
	set(&o.MutexFraction, 20)
	set(&o.BlockRate, 100*time.Millisecond)
	set(&o.TraceLength, 2*time.Second)
	set(&o.TraceBytes, 16<<20)
	set(&o.TraceMaxBytes, 64<<20)
	set(&o.Flights, 3)
	set(&o.FlightRate, 512<<10)
	set(&o.FlightLength, time.Second)
	set(&o.FlightBytes, 8<<20)
	return o
}

// set gives a field its default unless the caller chose a value.
func set[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
