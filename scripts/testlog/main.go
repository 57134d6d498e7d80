// Command testlog reads `go test -json` and prints what go test without -v would: a
// line per package, and of a failing one everything that its failed and unfinished
// tests wrote. What was skipped, and how long packages took, it keeps for the end.
//
//	go test -json ./... | testlog -kept FILE
//	testlog -kept FILE -summary scripts/skips.txt
//
// The summary lists every skip with its reason, the ten slowest packages and the slowest tests. With
// -strict it fails if a reason is not on the list: a test that silently no longer
// runs in CI proves nothing there.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	kept := flag.String("kept", "", "`file` of JSON lines that skips and times are added to")
	summary := flag.String("summary", "", "summarise what was kept; `file` lists the reasons that may skip a test in CI")
	strict := flag.Bool("strict", false, "with -summary: fail if a skip's reason is not listed")
	flag.Parse()
	err := run(*kept, *summary, *strict)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

func run(kept, summary string, strict bool) error {
	if summary != "" {
		results, err := readKept(kept)
		if err != nil {
			return err
		}
		allowed, err := readReasons(summary)
		if err != nil {
			return err
		}
		return summarise(os.Stdout, results, allowed, strict)
	}
	results, err := follow(os.Stdin, os.Stdout)
	// Also of a run that failed: what it skipped is part of why.
	return errors.Join(err, keep(kept, results))
}

// keep appends results to a file; nothing for no file.
func keep(path string, results []result) error {
	if path == "" || len(results) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

func readKept(path string) (all []result, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var r result
		if err := dec.Decode(&r); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, r)
	}
}
