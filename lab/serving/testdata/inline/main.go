// Command inline is work whose calls are worth inlining: the experiment on inlining builds
// it in several ways. It prints a checksum and the nanoseconds that the work took.
// With a second argument it writes its CPU profile there.
package main

import (
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

type fee interface{ of(cents int) int }

type flat struct{ cents int }

func (f flat) of(int) int { return f.cents }

type share struct{ percent int }

func (s share) of(cents int) int { return cents * s.percent / 100 }

// grade is over the budget of the compiler's inlining, and under the budget for calls that
// a profile shows to be hot.
func grade(cents, day int) int {
	g := cents
	for g > 9 {
		g = g/10 + g%10
	}
	if day%7 == 0 {
		g += 3
	}
	if day%30 == 0 {
		g += 5
	}
	if cents > 90_000 {
		g *= 2
	}
	if g > 12 {
		g -= cents % 3
	}
	return g ^ day&1
}

func total(fees []fee, days int) (sum int) {
	for day := range days {
		for i, f := range fees {
			sum += f.of(1000*i+day) + grade(i+day&1, day)
		}
	}
	return sum
}

func main() {
	days, _ := strconv.Atoi(os.Args[1])
	if len(os.Args) > 2 {
		file, err := os.Create(os.Args[2])
		if err == nil {
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			panic(err)
		}
		defer file.Close()
		defer pprof.StopCPUProfile()
	}
	fees := make([]fee, 1000)
	for i := range fees {
		fees[i] = share{i % 7}
		if i%50 == 0 {
			fees[i] = flat{i}
		}
	}
	begun := time.Now()
	sum := total(fees, days)
	println(sum, int64(time.Since(begun)))
}
