package container

import "github.com/redline-go/redline/observe/pseudofile"

// quota returns the CPUs that the tightest level allows and that level; ok is
// false when none limits.
func (h *hierarchy) quota(read readFile) (cpus float64, level string, ok bool) {
	return h.tightest(func(dir string) (float64, bool) {
		if h.v2 {
			text, err := read(dir + "/cpu.max")
			if err != nil {
				return 0, false
			}
			return parseCPUMax(text)
		}
		text, err := read(dir + "/cpu.cfs_quota_us")
		if err != nil {
			return 0, false
		}
		quota, _, limited := pseudofile.Number(text) // -1, unlimited, is no number
		if text, err = read(dir + "/cpu.cfs_period_us"); err != nil || !limited {
			return 0, false
		}
		period, _, fine := pseudofile.Number(text)
		return float64(quota) / float64(period), fine && period > 0
	})
}

// parseCPUMax parses cpu.max: "max 100000" or "150000 100000", quota and period
// in us.
func parseCPUMax(text []byte) (cpus float64, ok bool) {
	quota, rest, ok := pseudofile.Number(text)
	if !ok {
		return 0, false
	}
	period, _, ok := pseudofile.Number(rest)
	if !ok || period == 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// throttling holds cpu.stat's counts for a quota.
type throttling struct {
	periods   uint64 // in which the group wanted to run
	throttled uint64 // of these, periods in which it was stopped
	ns        uint64 // that its CPUs were throttled
}

// parseThrottling parses cpu.stat. ok is false for the root of version 2, which
// counts no periods, and if the cpu controller is not enabled.
func (h *hierarchy) parseThrottling(text []byte) (t throttling, ok bool) {
	periods, ok1 := pseudofile.Keyed(text, "nr_periods")
	throttled, ok2 := pseudofile.Keyed(text, "nr_throttled")
	key, scale := "throttled_time", uint64(1)
	if h.v2 {
		key, scale = "throttled_usec", 1000
	}
	time, ok3 := pseudofile.Keyed(text, key)
	if !ok1 || !ok2 || !ok3 {
		return throttling{}, false
	}
	return throttling{periods, throttled, time * scale}, true
}
