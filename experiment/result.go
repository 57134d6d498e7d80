package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
)

// Schema names a file of results.
const Schema = "redline.lab/1"

// ResultsFile is where a session keeps its results, in its directory.
const ResultsFile = "lab.json"

// Results are all that was decided in one directory. Host and Go are those of most results; each has its own.
type Results struct {
	Schema  string      `json:"schema"`
	Host    record.Host `json:"host"`
	Go      string      `json:"go"`
	Results []Result    `json:"results"`
}

// Result is one experiment's.
type Result struct {
	ID      string `json:"id"`
	Claim   string `json:"claim"`
	Title   string `json:"title"`
	Claimed string `json:"claimed"` // the report's figure, in words
	// Factor is the claimed gain; 0 where a direction is claimed.
	Factor  float64 `json:"claimed_factor,omitempty"`
	Metric  string  `json:"metric"`
	Gain            // zeros where nothing was measured
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	// A and B are the median rounds of either side, in the metric.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Rounds are how many pairs decided; Quick says that they were the few of --quick.
	Rounds int       `json:"rounds"`
	Quick  bool      `json:"quick,omitempty"`
	At     time.Time `json:"at"`
	// Host and Go are what it was measured on.
	Host record.Host `json:"host,omitzero"`
	Go   string      `json:"go,omitempty"`
}

// maxResults bounds a file of results, in bytes.
const maxResults = 4 << 20

// Read returns the results in a directory; none where it holds no file of them.
func Read(dir string) (Results, error) {
	r := Results{Schema: Schema}
	data, err := disk.Read(dir, ResultsFile, maxResults)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	path := filepath.Join(dir, ResultsFile)
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != Schema {
		return r, fmt.Errorf("%s: schema %q, want %q", path, r.Schema, Schema)
	}
	r.clean()
	for i := range r.Results {
		if one := &r.Results[i]; one.Go == "" { // of a redline that kept them once for all
			one.Host, one.Go = r.Host, r.Go
		}
	}
	return r, nil
}

// clean takes from the texts of a file what a terminal or a page would act on.
func (r *Results) clean() {
	of := func(version *string, h *record.Host) []*string {
		return []*string{version, &h.OS, &h.Arch, &h.Kernel, &h.CPUModel}
	}
	texts := of(&r.Go, &r.Host)
	for i := range r.Results {
		one := &r.Results[i]
		texts = append(texts, of(&one.Go, &one.Host)...)
		texts = append(texts, &one.ID, &one.Claim, &one.Title, &one.Claimed, &one.Metric, &one.Why, (*string)(&one.Verdict))
	}
	for _, text := range texts {
		*text = notation.Clean(*text)
	}
}

// Of returns the result of an experiment.
func (r Results) Of(id string) (Result, bool) {
	if i := slices.IndexFunc(r.Results, func(one Result) bool { return one.ID == id }); i >= 0 {
		return r.Results[i], true
	}
	return Result{}, false
}

// keep puts a result in the place of an earlier one, and writes all of them.
func (r *Results) keep(dir string, one Result) error {
	if i := slices.IndexFunc(r.Results, func(old Result) bool { return old.ID == one.ID }); i >= 0 {
		r.Results[i] = one
	} else {
		r.Results = append(r.Results, one)
	}
	r.settle()
	return disk.WriteFile(dir, ResultsFile, func(w io.Writer) error {
		encode := json.NewEncoder(w)
		encode.SetIndent("", "  ")
		return encode.Encode(r)
	})
}

// settle takes the host and the version of Go of most results, the first of equally many.
func (r *Results) settle() {
	type made struct {
		host    record.Host
		version string
	}
	count, most := map[made]int{}, 0
	for _, one := range r.Results {
		count[made{one.Host, one.Go}]++
	}
	for _, one := range r.Results {
		if n := count[made{one.Host, one.Go}]; n > most {
			r.Host, r.Go, most = one.Host, one.Go, n
		}
	}
}

// elsewhere says on which other host, or with which other Go, a result was made than most; "" if on the same.
func (r Results) elsewhere(one Result) string {
	var other []string
	if one.Host != r.Host && one.Host != (record.Host{}) {
		other = append(other, strings.Join([]string{one.Host.CPUModel, one.Host.OS, one.Host.Kernel}, " "))
	}
	if one.Go != r.Go && one.Go != "" {
		other = append(other, one.Go)
	}
	return strings.Join(other, ", ")
}
