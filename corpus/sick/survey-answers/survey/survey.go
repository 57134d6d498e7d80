// Package survey checks and keeps questionnaires.
package survey

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is how a question is answered.
type Kind int

// Kinds of questions.
const (
	Choice Kind = iota
	Number
	Text
)

// Question is one line of a form.
type Question struct {
	Code     string
	Kind     Kind
	Most     int // choices, the highest number, or the length of a text
	Required bool
}

// Form is a questionnaire.
type Form struct {
	Name      string
	Questions map[string]Question
}

// Household is the form of the yearly survey of households.
func Household() Form {
	f := Form{Name: "household", Questions: map[string]Question{}}
	for i := 1; i <= 60; i++ {
		q := Question{Code: fmt.Sprintf("q%d", i), Kind: Kind(i % 3), Required: i <= 3}
		switch q.Kind {
		case Choice:
			q.Most = 5
		case Number:
			q.Most = 1000
		case Text:
			q.Most = 200
		}
		f.Questions[q.Code] = q
	}
	return f
}

// Answer is what somebody wrote on a line.
type Answer struct {
	Code  string `json:"code"`
	Value int    `json:"value"`
	Text  string `json:"text"`
}

// Sheet is a form that somebody has filled in.
type Sheet struct {
	Household int       `json:"household"`
	Answers   []Answer  `json:"answers"`
	At        time.Time `json:"-"`
}

// ErrInvalid is wrapped by all errors of sheets.
var ErrInvalid = errors.New("invalid sheet")

// Repository keeps sheets.
type Repository interface {
	SaveSheet(ctx context.Context, form string, s Sheet) (id int64, err error)
	Count(ctx context.Context, household int) (int, error)
}

// Service takes sheets of one form.
type Service struct {
	repo Repository
	form Form
	now  func() time.Time
}

// NewService makes a service.
func NewService(r Repository, f Form) *Service { return &Service{r, f, time.Now} }

// Submit checks a sheet and keeps it.
func (s *Service) Submit(ctx context.Context, sheet Sheet) (int64, error) {
	if err := s.form.check(sheet); err != nil {
		return 0, err
	}
	sheet.At = s.now().UTC()
	return s.repo.SaveSheet(ctx, s.form.Name, sheet)
}

// Submitted is the number of sheets of a household.
func (s *Service) Submitted(ctx context.Context, household int) (int, error) {
	return s.repo.Count(ctx, household)
}

func (f Form) check(s Sheet) error {
	if s.Household < 1 {
		return fmt.Errorf("%w: no household", ErrInvalid)
	}
	given := make(map[string]bool, len(s.Answers))
	for _, a := range s.Answers {
		q, known := f.Questions[a.Code]
		switch {
		case !known:
			return fmt.Errorf("%w: there is no question %q", ErrInvalid, a.Code)
		case given[a.Code]:
			return fmt.Errorf("%w: %s is answered twice", ErrInvalid, a.Code)
		case q.Kind == Text && len(a.Text) > q.Most, q.Kind != Text && (a.Value < 0 || a.Value > q.Most):
			return fmt.Errorf("%w: %s is out of range", ErrInvalid, a.Code)
		}
		given[a.Code] = true
	}
	for code, q := range f.Questions {
		if q.Required && !given[code] {
			return fmt.Errorf("%w: %s is required", ErrInvalid, code)
		}
	}
	return nil
}
