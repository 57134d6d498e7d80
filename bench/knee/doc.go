//go:build linux

// Command knee measures how often `redline knee` is right: it measures services whose
// capacity is known (bounded/) again and again, as a user would.
//
// A repetition is right if the capacity lies within the interval that the answer
// states. The interval should be at most 10 % wide, and the answer should take at most
// four minutes.
//
//	go build -o bin/bench-knee ./bench/knee && bin/bench-knee -redline bin/redline
//	bin/bench-knee -redline bin/redline -add -repetitions 2    # adds to the results in the file
//
// The file is written after each repetition, so that a bench that is stopped has some
// repetitions of each service.
package main
