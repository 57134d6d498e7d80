package record

// Spread returns which of n files of the given sizes to read when not all of them
// fit within budget bytes: as many as fit, evenly spread over the list, the first
// and the last among them where two fit. All of them when they do.
func Spread(n int, size func(i int) int64, budget int64, most int) []int {
	for k := min(n, most); k > 0; k = min(k-1, k*7/8) {
		picked, sum := make([]int, 0, k), int64(0)
		for i := range k {
			at := i
			if k < n {
				at = (n - 1) / 2
				if k > 1 {
					at = i * (n - 1) / (k - 1)
				}
			}
			picked = append(picked, at)
			sum += size(at)
		}
		if sum <= budget {
			return picked
		}
	}
	return nil
}

// ProfileSize returns the size of a listed profile in bytes, 0 when it cannot be
// opened; ReadProfile then says why.
func (r *Record) ProfileSize(p Profile) int64 {
	for _, s := range r.profiles {
		if s.typ == p.Type && s.Span == p.Span {
			f, size, err := openFile(r.Dir, s.path, MaxProfile)
			if err != nil {
				return 0
			}
			_ = f.Close() // nothing was written
			return size
		}
	}
	return 0
}
