package netstat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/redline-go/redline/record/series"
)

// maxLine bounds a line of these files; the longest, the names of TcpExt, takes
// about 2.5 KB.
const maxLine = 32 << 10

// fields are those read from /proc/net/snmp and /proc/net/netstat, by table and
// the kernel's name of the field (net/ipv4/proc.c; for their meaning, see
// Documentation/networking/snmp_counter.rst). Two fields of one series add up.
var fields = map[string]map[string]string{
	"Tcp": {
		"ActiveOpens":  series.NetActiveOpens,
		"PassiveOpens": series.NetPassiveOpens,
		"AttemptFails": series.NetAttemptFails,
		"EstabResets":  series.NetEstabResets,
		"CurrEstab":    series.NetEstablished,
		"InSegs":       series.NetInSegments,
		"OutSegs":      series.NetOutSegments,
		"RetransSegs":  series.NetRetransmits,
		"InErrs":       series.NetInErrors,
		"OutRsts":      series.NetOutResets,
	},
	"TcpExt": {
		"ListenOverflows":      series.NetListenOverflows,
		"ListenDrops":          series.NetListenDrops,
		"TCPReqQFullDrop":      series.NetRequestQueueFull,
		"TCPReqQFullDoCookies": series.NetRequestQueueFull,
		"TCPTimeouts":          series.NetTimeouts,
		"TCPLostRetransmit":    series.NetLostRetransmits,
		"TCPSynRetrans":        series.NetSynRetransmits,
		"TCPDSACKRecvSegs":     series.NetDuplicates,
		"TCPMemoryPressures":   series.NetMemoryPressures,
		"PruneCalled":          series.NetPrunes,
		"TCPBacklogDrop":       series.NetBacklogDrops,
		"TCPToZeroWindowAdv":   series.NetZeroWindows,
		"TW":                   series.NetTimeWaits,
		"TWKilled":             series.NetTimeWaits,
		"TCPTimeWaitOverflow":  series.NetTimeWaitOverflows,
	},
}

// Parse parses snmp or netstat, pairs of lines, "Tcp: name name" and "Tcp: value value",
// and adds the used fields to values, by series. A table whose two lines differ
// in length is an error; values of earlier tables are kept.
func Parse(r io.Reader, values map[string]float64) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	var names []byte
	for lines.Scan() {
		if len(names) == 0 {
			names = append(names, lines.Bytes()...)
			continue
		}
		if err := parsePair(names, lines.Bytes(), values); err != nil {
			return err
		}
		names = names[:0]
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read network counters: %w", err)
	}
	if len(names) > 0 {
		return fmt.Errorf("the table %.16q has no line of values", names)
	}
	return nil
}

// parsePair reads a line of names and the line of values below it. Kernels add fields
// anywhere, so a value belongs to the name above it, whatever their position.
func parsePair(names, line []byte, values map[string]float64) error {
	table, names, ok := bytes.Cut(names, []byte(":"))
	again, line, ok2 := bytes.Cut(line, []byte(":"))
	if !ok || !ok2 || !bytes.Equal(table, again) {
		return fmt.Errorf("a line of names %.16q and a line of values %.16q do not belong together", table, again)
	}
	wanted := fields[string(table)]
	for {
		var name, value []byte
		name, names = word(names)
		value, line = word(line)
		if len(name) == 0 || len(value) == 0 {
			if len(name)+len(value) > 0 {
				return fmt.Errorf("the table %.16q has not as many values as names", table)
			}
			return nil
		}
		counter, ok := wanted[string(name)]
		if !ok {
			continue
		}
		// Unsigned suffices: in these tables only MaxConn may be negative (-1 is no fixed limit,
		// RFC 4022), and it is not read.
		n, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("%s %s: %w", table, name, err)
		}
		values[counter] += float64(n)
	}
}

// word returns the first word of text and the rest.
func word(text []byte) (word, rest []byte) {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for end, c := range text {
		if c == ' ' || c == '\t' || c == '\n' {
			return text[:end], text[end:]
		}
	}
	return text, nil
}

// parseSockstat parses sockstat or sockstat6, lines such as "TCP: inuse 5
// orphan 0 tw 1 alloc 7 mem 3", and adds its figures to values.
func parseSockstat(r io.Reader, page float64, values map[string]float64) error {
	wanted := map[string]string{
		"sockets used": series.NetSockets,
		"TCP inuse":    series.NetTCPInUse, "TCP6 inuse": series.NetTCPInUse,
		"TCP orphan": series.NetTCPOrphans, "TCP tw": series.NetTCPTimeWait,
		"TCP alloc": series.NetTCPAllocated, "TCP mem": series.NetTCPMemory,
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 512), maxLine)
	for lines.Scan() {
		kind, rest, ok := bytes.Cut(lines.Bytes(), []byte(":"))
		if !ok {
			return fmt.Errorf("sockstat has a line %.32q", lines.Bytes())
		}
		for len(rest) > 0 {
			var name, value []byte
			name, rest = word(rest)
			value, rest = word(rest)
			gauge, ok := wanted[string(kind)+" "+string(name)]
			if !ok {
				continue
			}
			n, err := strconv.ParseUint(string(value), 10, 63)
			if err != nil {
				return fmt.Errorf("sockstat %s %s: %w", kind, name, err)
			}
			amount := float64(n)
			// mem alone counts pages (tcp_memory_allocated), of both families; sockstat6 has
			// only inuse (net/ipv6/proc.c).
			if gauge == series.NetTCPMemory {
				amount *= page
			}
			values[gauge] += amount
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read sockstat: %w", err)
	}
	return nil
}

// softnet holds one CPU's counts in softnet_stat: packets processed, dropped, and
// how often its budget ran out (net/core/net-procfs.c). They are 32 bits wide.
type softnet [3]uint32

// parseSoftnet parses softnet_stat, a line of hexadecimal words per CPU, and
// appends one entry per line to cpus.
func parseSoftnet(r io.Reader, cpus []softnet) ([]softnet, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<10), maxLine)
	for lines.Scan() {
		var cpu softnet
		rest := lines.Bytes()
		for i := range cpu {
			var text []byte
			text, rest = word(rest)
			n, err := strconv.ParseUint(string(text), 16, 32)
			if err != nil {
				return cpus, fmt.Errorf("softnet_stat, column %d: %w", i+1, err)
			}
			cpu[i] = uint32(n)
		}
		cpus = append(cpus, cpu)
	}
	if err := lines.Err(); err != nil {
		return cpus, fmt.Errorf("read softnet_stat: %w", err)
	}
	if len(cpus) == 0 {
		return cpus, errors.New("softnet_stat is empty")
	}
	return cpus, nil
}

// softnetTotal sums softnet over CPUs and readings. The zero value is ready.
type softnetTotal struct {
	last  []softnet
	total [3]float64
}

// add takes a reading and reports whether it continues the last one: not if
// CPUs came or went. Unsigned differences are right across the wrap at 32 bits.
func (s *softnetTotal) add(cpus []softnet) (continues bool) {
	continues = len(s.last) == len(cpus)
	for i, cpu := range cpus {
		for j := range cpu {
			if continues {
				s.total[j] += float64(cpu[j] - s.last[i][j])
			}
		}
	}
	s.last = append(s.last[:0], cpus...)
	return continues
}
