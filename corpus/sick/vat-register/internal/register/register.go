// Package register checks the parties of invoices.
package register

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/redline-go/redline/corpus/sick/vat-register/internal/rules"
)

var spaces = regexp.MustCompile(`[\s.-]+`)

// Invoice is what is asked about.
type Invoice struct {
	Number  string   `json:"number"`
	Parties []string `json:"parties"`
}

// Verdict is about one party.
type Verdict struct {
	Party  string `json:"party"`
	Valid  bool   `json:"valid"`
	Reason string `json:"reason,omitempty"`
}

// Controller handles invoices.
type Controller struct{ validators rules.Factory }

// NewController makes a controller.
func NewController(f rules.Factory) *Controller { return &Controller{f} }

// Mount adds the routes.
func (c *Controller) Mount(g *echo.Group) { g.POST("/invoices/check", c.check) }

func (c *Controller) check(ctx echo.Context) error {
	var in Invoice
	if err := ctx.Bind(&in); err != nil {
		return err
	}
	if len(in.Parties) == 0 || len(in.Parties) > 20 {
		return echo.NewHTTPError(http.StatusUnprocessableEntity, "parties: 1 to 20")
	}
	return ctx.JSON(http.StatusOK, c.verdicts(in.Parties))
}

func (c *Controller) verdicts(parties []string) []Verdict {
	v := c.validators()
	out := make([]Verdict, len(parties))
	for i, p := range parties {
		out[i].Party = strings.ToUpper(spaces.ReplaceAllString(p, ""))
		ok, err := v.Check(out[i].Party)
		out[i].Valid = ok
		if err != nil {
			out[i].Reason = err.Error()
		}
	}
	return out
}
