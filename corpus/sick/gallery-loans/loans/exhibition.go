// Package loans is works that museums lend to exhibitions.
package loans

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/corpus/sick/gallery-loans/docstore"
)

// Exhibition is shown for a time, with what others lend to it.
type Exhibition struct {
	ID     string          `json:"id"`
	Title  string          `json:"title"`
	Opens  time.Time       `json:"opens"`
	Closes time.Time       `json:"closes"`
	Rooms  []string        `json:"rooms"`
	Loans  map[string]Loan `json:"loans"`
}

// Loan is one work.
type Loan struct {
	Work       string      `json:"work"`
	Artist     string      `json:"artist"`
	Lender     Lender      `json:"lender"`
	Insured    float64     `json:"insured"`
	Room       string      `json:"room"`
	State      string      `json:"state"`
	Conditions []string    `json:"conditions"`
	Handling   []Condition `json:"handling"`
}

// Lender is a museum or a person.
type Lender struct {
	Name    string `json:"name"`
	City    string `json:"city"`
	Contact string `json:"contact"`
}

// Condition is what a courier wrote down on the way.
type Condition struct {
	At    time.Time `json:"at"`
	By    string    `json:"by"`
	Notes string    `json:"notes"`
	Humid float64   `json:"humid"`
}

// Seed makes exhibitions with so many loans each.
func Seed(repo *docstore.Repo[Exhibition], exhibitions, each int) error {
	day := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for x := range exhibitions {
		ex := Exhibition{
			ID: fmt.Sprintf("ex%02d", x), Title: fmt.Sprintf("Light and shadow %d", x),
			Opens: day, Closes: day.AddDate(0, 4, 0), Rooms: []string{"north", "south", "tower"}, Loans: map[string]Loan{},
		}
		for l := range each {
			loan := Loan{
				Work: fmt.Sprintf("Landscape with mill, study %d", l), Artist: fmt.Sprintf("Master of the panel %d", l%17),
				Lender:  Lender{fmt.Sprintf("Museum %d", l%9), "Ghent", fmt.Sprintf("registrar%d@museum.example", l%9)},
				Insured: 12500.5 * float64(1+l%40), Room: ex.Rooms[l%3], State: "crated",
				Conditions: []string{"at most 50 lux", "glazed", "courier present at hanging"},
			}
			for h := range 4 {
				loan.Handling = append(loan.Handling, Condition{
					day.Add(time.Duration(h) * time.Hour), "courier", "corner upper left rubbed, otherwise as before", 48.5,
				})
			}
			ex.Loans[fmt.Sprintf("%d", l)] = loan
		}
		if err := repo.Put(ex.ID, ex, 0); err != nil {
			return err
		}
	}
	return nil
}
