// Command payslip-lines exports a month's payslips as fixed columns of text.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"sync"
)

type payslip struct {
	employee   int
	name       string
	gross, net float64
	hours      float32
}

func (p payslip) line() string {
	return fmt.Sprintf("%06d|%-20s|%12.2f|%12.2f|%6.1f|%v\n", p.employee, p.name, p.gross, p.net, p.hours, p.gross > 3000)
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func render(month []payslip) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		out := buffers.Get().(*bytes.Buffer)
		out.Reset()
		for _, p := range month {
			out.WriteString(p.line())
		}
		w.Write(out.Bytes())
		buffers.Put(out)
	}
}

func main() {
	month := make([]payslip, 220)
	for i := range month {
		month[i] = payslip{1000 + i, "Johanna Petersen", 2800 + float64(i)*3.17, 1900 + float64(i)*2.03, 37.5}
	}
	http.HandleFunc("/export", render(month))
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9705", nil))
}
