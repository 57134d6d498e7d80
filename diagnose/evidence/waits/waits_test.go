package waits

import (
	"testing"

	"github.com/redline-go/redline/record/code"
)

// TestByOwner: a group is led by its largest site, in whatever order sites of several kinds come.
func TestByOwner(t *testing.T) {
	at := func(function string, ns float64) Site {
		return Site{Place: code.Frame{Function: function}, NS: ns, Share: ns / 100}
	}
	got := ByOwner([]Site{at("shop.(*Bank).call", 1), at("shop.Other", 5), at("shop.(*Bank).take", 80)})
	if len(got) != 2 || got[0].Place.Function != "shop.(*Bank).take" || got[0].NS != 81 || got[1].Place.Function != "shop.Other" {
		t.Errorf("%+v", got)
	}
}
