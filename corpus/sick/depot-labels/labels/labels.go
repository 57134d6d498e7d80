// Package labels draws the labels of parcels in the language of label printers.
package labels

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"text/template"

	"depot.example/platform/kit/carrier"
)

// Parcel is what a label is for.
type Parcel struct {
	Serial  uint64   `json:"serial"`
	Carrier string   `json:"carrier"`
	Name    string   `json:"name"`
	Lines   []string `json:"lines"`
	Grams   int      `json:"grams"`
}

// Label is a drawn label.
type Label struct {
	Number string `json:"number"`
	ZPL    string `json:"zpl"`
}

// Numberer gives parcels their numbers.
type Numberer interface {
	Number(carrier string, serial uint64) (string, error)
}

var _ Numberer = (*carrier.Directory)(nil)

var form = template.Must(template.New("label").Funcs(template.FuncMap{
	"kg":  func(g int) string { return fmt.Sprintf("%d.%03d kg", g/1000, g%1000) },
	"row": func(i int) int { return 120 + 40*i },
}).Parse(`^XA
^CF0,40^FO40,40^FD{{.Parcel.Name}}^FS
{{range $i, $l := .Parcel.Lines}}^FO40,{{row $i}}^FD{{$l}}^FS
{{end}}^FO40,360^FD{{kg .Parcel.Grams}}^FS
^BY3^FO40,420^BCN,120,Y^FD{{.Number}}^FS
^XZ
`))

// Press draws labels.
type Press struct{ Numbers Numberer }

// Draw draws the label of p.
func (p *Press) Draw(ctx context.Context, parcel Parcel) (Label, error) {
	if err := ctx.Err(); err != nil {
		return Label{}, err
	}
	number, err := p.Numbers.Number(parcel.Carrier, parcel.Serial)
	if err != nil {
		return Label{}, err
	}
	for i, l := range parcel.Lines {
		parcel.Lines[i] = strings.NewReplacer("^", " ", "~", " ").Replace(l)
	}
	var b bytes.Buffer
	err = form.Execute(&b, struct {
		Parcel Parcel
		Number string
	}{parcel, number})
	return Label{Number: number, ZPL: b.String()}, err
}
