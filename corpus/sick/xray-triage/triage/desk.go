// Package triage judges studies.
package triage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/redline-go/redline/corpus/sick/xray-triage/pipe"
)

// ErrImage is returned for an image without pixels.
var ErrImage = errors.New("triage: the image is empty")

// Config says where the classifier is and how many studies may wait.
type Config struct {
	Classifier string
	Backlog    int
	Patience   time.Duration
}

// Study is what the modality sends.
type Study struct {
	ID     string    `json:"id"`
	Region string    `json:"region"`
	Pixels []float64 `json:"pixels"` // grey values of a thumbnail, 0 to 255
}

// Verdict is how urgent a study is.
type Verdict struct {
	ID      string  `json:"id"`
	Urgency string  `json:"urgency"`
	Score   float64 `json:"score"`
}

type prepared struct {
	id, region    string
	mean, stddev  float64
	bright, total int
}

type classified struct {
	prepared
	state string
}

type order struct {
	study Study
	reply chan<- Verdict
}

type carried[T any] struct {
	value T
	reply chan<- Verdict
}

// Desk takes studies through preparation, classification and scoring.
type Desk struct {
	intake *pipe.Intake[order]
	done   sync.WaitGroup
	wait   time.Duration
}

// NewDesk starts the stages.
func NewDesk(c Config) *Desk {
	classifier := newClassifier(c.Classifier)
	intake, orders := pipe.NewIntake[order](c.Backlog)
	ready := pipe.Stage(orders, c.Backlog, func(_ context.Context, o order) (carried[prepared], error) {
		p, err := prepare(o.study)
		return carried[prepared]{p, o.reply}, err
	})
	seen := pipe.Stage(ready, c.Backlog, func(ctx context.Context, p carried[prepared]) (carried[classified], error) {
		state, err := classifier.classify(ctx, p.value)
		return carried[classified]{classified{p.value, state}, p.reply}, err
	})
	d := &Desk{intake: intake, wait: c.Patience}
	d.done.Go(func() {
		for p := range seen {
			p.Value.reply <- score(p.Value.value)
		}
	})
	return d
}

// Close lets those who wait have their verdicts, and ends the stages.
func (d *Desk) Close() {
	d.intake.Close()
	d.done.Wait()
}

// Judge returns the verdict on a study.
func (d *Desk) Judge(ctx context.Context, s Study) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	reply, failed := make(chan Verdict, 1), make(chan error, 1)
	if err := d.intake.Put(ctx, order{s, reply}, func(err error) { failed <- err }); err != nil {
		return Verdict{}, err
	}
	select {
	case v := <-reply:
		return v, nil
	case err := <-failed:
		return Verdict{}, err
	case <-ctx.Done():
		return Verdict{}, fmt.Errorf("triage of %s: %w", s.ID, ctx.Err())
	}
}

func prepare(s Study) (prepared, error) {
	p := prepared{id: s.ID, region: s.Region, total: len(s.Pixels)}
	if p.total == 0 {
		return p, ErrImage
	}
	for _, v := range s.Pixels {
		p.mean += v
		if v > 200 {
			p.bright++
		}
	}
	p.mean /= float64(p.total)
	for _, v := range s.Pixels {
		p.stddev += (v - p.mean) * (v - p.mean)
	}
	p.stddev = math.Sqrt(p.stddev / float64(p.total))
	return p, nil
}

func score(c classified) Verdict {
	s := float64(c.bright)/float64(c.total) + c.stddev/255
	if c.state != "ok" {
		s++
	}
	v := Verdict{ID: c.id, Urgency: "routine", Score: math.Round(s*1000) / 1000}
	switch {
	case s > 0.9:
		v.Urgency = "now"
	case s > 0.5:
		v.Urgency = "today"
	}
	return v
}
