package knee

import (
	"encoding/json"
	"time"

	"github.com/redline-go/redline/stat/usl"
)

// Schema names the form of an Answer as JSON.
const Schema = "redline.knee/1"

// State says how far an answer can be relied on.
type State string

// States of an answer.
const (
	Found       State = "found"
	Undecided   State = "undecided"
	Interrupted State = "interrupted"
)

// Header describes what a session's steps were measured on.
type Header struct {
	Schema  string          `json:"schema"`
	Target  string          `json:"target"` // in words, without secrets
	Plan    json.RawMessage `json:"scenario"`
	Begun   time.Time       `json:"begun"`
	Redline string          `json:"redline"`
	CPUs    int             `json:"cpus"`
	// Objectives are expressions; Reason says how they were derived if nobody stated them.
	Objectives []string `json:"objectives"`
	Reason     string   `json:"objectives_reason,omitempty"`
}

// Answer is knee.json: the knee and all that is known about it. Rates are 1/s.
type Answer struct {
	Schema string `json:"schema"`
	State  State  `json:"state"`
	Why    string `json:"why,omitempty"` // for a state other than found
	Header Header `json:"session"`
	// Knee is the highest rate at which the objectives hold, nil if only steps on one
	// side of it were measured; AtLeast is then the highest rate that held.
	Knee    *Interval `json:"knee,omitempty"`
	AtLeast float64   `json:"at_least,omitempty"`
	// Broke says what failed first above the knee.
	Broke   string   `json:"broke,omitempty"`
	Finding *Finding `json:"finding,omitempty"`
	// Plateau is the throughput while more was offered than served; 0 if unknown.
	Plateau    float64     `json:"plateau,omitempty"`
	Hysteresis *Hysteresis `json:"hysteresis,omitempty"`
	Soak       *Step       `json:"soak,omitempty"`
	Pool       *Pool       `json:"pool,omitempty"`
	Law        *usl.Fit    `json:"usl,omitempty"`
	NoLaw      string      `json:"usl_refused,omitempty"`
	Launches   int         `json:"launches"`
	Steps      []Step      `json:"steps"`
	Warnings   []string    `json:"warnings"`
}

// Hysteresis compares the way up with the way down.
type Hysteresis struct {
	// Down is the throughput on the way down divided by that on the way up, as the
	// median over the same concurrencies; 0 if unknown.
	Down float64 `json:"down_over_up,omitempty"`
	// Overload and Return are the rates of a step above the knee and of the one right
	// after it; Recovered is whether the latter held. 0 if they were not tried.
	Overload  float64 `json:"overload,omitempty"`
	Return    float64 `json:"return,omitempty"`
	Recovered bool    `json:"recovered"`
}
