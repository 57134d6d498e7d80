package trail

import "math"

// Resample returns points along the trail, at most step metres apart.
func (t *Trail) Resample(step float64) []*Point {
	var walk []*Point
	for i := 1; i < len(t.Way); i++ {
		a, b := t.Way[i-1], t.Way[i]
		pieces := int(math.Ceil((b.Along - a.Along) / step))
		for k := range pieces {
			part := float64(k) / float64(pieces)
			p := &Point{
				East:  a.East + part*(b.East-a.East),
				North: a.North + part*(b.North-a.North),
				Along: a.Along + part*(b.Along-a.Along),
			}
			if k == 0 {
				p.Mark = a.Mark
			}
			walk = append(walk, p)
		}
	}
	end := *t.Way[len(t.Way)-1]
	return append(walk, &end)
}

// Smooth evens heights out over reach points in both directions.
func Smooth(walk []*Point, reach int) []*Point {
	var out []*Point
	for i, p := range walk {
		from, to := max(0, i-reach), min(len(walk), i+reach+1)
		sum := 0.0
		for _, q := range walk[from:to] {
			sum += q.Height
		}
		even := *p
		even.Height = sum / float64(to-from)
		out = append(out, &even)
	}
	return out
}

// Measure returns length, climb and fall of a walk, in metres.
func Measure(walk []*Point) (metres, climb, fall float64) {
	for i := 1; i < len(walk); i++ {
		if d := walk[i].Height - walk[i-1].Height; d > 0 {
			climb += d
		} else {
			fall -= d
		}
	}
	return walk[len(walk)-1].Along, climb, fall
}
