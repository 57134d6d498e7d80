package loans

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redline-go/redline/corpus/sick/gallery-loans/docstore"
)

var errNoLoan = errors.New("loans: no such loan")

// Desk answers questions about loans.
type Desk struct {
	exhibitions *docstore.Repo[Exhibition]
}

// NewDesk makes a desk for the exhibitions of a repo.
func NewDesk(exhibitions *docstore.Repo[Exhibition]) *Desk { return &Desk{exhibitions} }

func (d *Desk) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, docstore.ErrMissing) || errors.Is(err, errNoLoan) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	http.Error(w, "internal error", http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Summary counts how many loans of an exhibition are in which state.
func (d *Desk) Summary(w http.ResponseWriter, r *http.Request) {
	ex, _, err := d.exhibitions.Get(chi.URLParam(r, "exhibition"))
	if err != nil {
		d.fail(w, err)
		return
	}
	states := map[string]int{}
	for _, l := range ex.Loans {
		states[l.State]++
	}
	answer(w, map[string]any{"id": ex.ID, "title": ex.Title, "opens": ex.Opens, "states": states})
}

// Loan says where one work is.
func (d *Desk) Loan(w http.ResponseWriter, r *http.Request) {
	ex, _, err := d.exhibitions.Get(chi.URLParam(r, "exhibition"))
	if err != nil {
		d.fail(w, err)
		return
	}
	loan, ok := ex.Loans[chi.URLParam(r, "loan")]
	if !ok {
		d.fail(w, errNoLoan)
		return
	}
	answer(w, struct {
		Work   string `json:"work"`
		Artist string `json:"artist"`
		Lender string `json:"lender"`
		Room   string `json:"room"`
		State  string `json:"state"`
	}{loan.Work, loan.Artist, loan.Lender.Name, loan.Room, loan.State})
}

// Move notes that a work has a new state.
func (d *Desk) Move(w http.ResponseWriter, r *http.Request) {
	var in struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&in); err != nil || in.State == "" {
		http.Error(w, "state is required", http.StatusUnprocessableEntity)
		return
	}
	err := d.exhibitions.Update(chi.URLParam(r, "exhibition"), func(ex *Exhibition) error {
		loan, ok := ex.Loans[chi.URLParam(r, "loan")]
		if !ok {
			return errNoLoan
		}
		loan.State = in.State
		ex.Loans[chi.URLParam(r, "loan")] = loan
		return nil
	})
	if err != nil {
		d.fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
