package seating

// Row is a row of the heatmap.
type Row struct {
	Name  string `json:"name"`
	Heat  []int  `json:"heat"`
	Cents int64  `json:"cents"`
}

// Render makes rows of a tally.
func Render(t Tally) []Row {
	out := make([]Row, 0, rows)
	for r := range rows {
		row := Row{Name: string(rune('A' + r)), Heat: make([]int, wide)}
		for s := range wide {
			sold, cents := t.At(r, s)
			row.Heat[s] = sold
			row.Cents += cents
		}
		out = append(out, row)
	}
	return out
}
