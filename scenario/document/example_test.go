package document_test

import (
	"fmt"
	"testing/fstest"

	"github.com/redline-go/redline/scenario/document"
)

func ExampleParse() {
	plan, err := document.Parse(fstest.MapFS{}, "shop.yaml", []byte(`
target: {build: ./cmd/shop}
load: {rate: 2000/s, duration: 20s}
requests:
- {url: http://127.0.0.1:8080/list}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Load.Rate, plan.Load.Duration, plan.Target.Build)
	// Output: 2000 20s ./cmd/shop
}

// A mistake comes with its place, and with what was meant.
func ExampleParse_mistake() {
	_, err := document.Parse(fstest.MapFS{}, "shop.yaml", []byte("load: {rat: 2000/s}\nrequests:\n- {url: http://127.0.0.1:8080/list}\n"))
	fmt.Println(err)
	// Output:
	// shop.yaml:1:8: unknown key "rat" in load
	//   load: {rat: 2000/s}
	//          ^^^
	//   hint: did you mean "rate"?
}
