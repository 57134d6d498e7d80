package probe_test

import (
	"fmt"

	"github.com/redline-go/redline/probe"
)

// What redline's build adds to a service: the probe's packages, below the service's
// own module so that only it can import them, and a file that imports them.
func ExampleFiles() {
	files, err := probe.Files("example.com/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	main, err := probe.Main("example.com/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(files["internal/redlineprobe/auto/auto.go"] != nil)
	fmt.Print(string(main))
	// Output:
	// true
	// package main
	//
	// import _ "example.com/shop/internal/redlineprobe/auto"
}
