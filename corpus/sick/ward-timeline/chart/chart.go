// Package chart has the events of patients.
package chart

import (
	"errors"
	"regexp"
	"sync"
)

// ErrPatient says that there is no such patient.
var ErrPatient = errors.New("no such patient")

// Event is something that was measured or given.
type Event struct {
	Minute  int32
	Kind    int32
	Patient int32
	Nurse   int32
	Values  [10]float32
}

// Archive has the events in the order in which they came.
type Archive struct {
	mu      sync.RWMutex
	byBed   [][]Event
	unusual *regexp.Regexp
}

// NewArchive fills beds.
func NewArchive(beds int) *Archive {
	a := &Archive{unusual: regexp.MustCompile(`^(fall|code-blue)$`)}
	for b := range beds {
		var es []Event
		for i := range 3000 {
			e := Event{Minute: int32(i * 3), Kind: int32(i % 9), Patient: int32(b), Nurse: int32((i + b) % 31)}
			for v := range e.Values {
				e.Values[v] = float32((i*v + b) % 97)
			}
			es = append(es, e)
		}
		a.byBed = append(a.byBed, es)
	}
	return a
}

func (a *Archive) bed(n int) ([]Event, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if n < 0 || n >= len(a.byBed) {
		return nil, ErrPatient
	}
	return a.byBed[n], nil
}

// View shows timelines.
type View struct {
	archive *Archive
	order   Order[Event]
}

// NewView makes a View.
func NewView(a *Archive, o Order[Event]) *View { return &View{a, o} }

// Entry is a line of a timeline.
type Entry struct {
	Minute int32   `json:"minute"`
	Kind   int32   `json:"kind"`
	Mean   float32 `json:"mean"`
}

// Page returns a page of the timeline of a bed without a kind of event.
func (v *View) Page(bed, page int, without int32) ([]Entry, error) {
	es, err := v.archive.bed(bed)
	if err != nil {
		return nil, err
	}
	line := v.order(len(es), func(i int) (Event, bool) { return es[i], es[i].Kind != without })
	const size = 40
	from := min(page*size, len(line))
	out := []Entry{}
	for _, e := range line[from:min(from+size, len(line))] {
		var sum float32
		for _, x := range e.Values {
			sum += x
		}
		out = append(out, Entry{e.Minute, e.Kind, sum / float32(len(e.Values))})
	}
	return out, nil
}
