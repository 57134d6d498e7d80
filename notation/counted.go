package notation

// Counted writes n with its noun in the number that English wants: "1 call", "0 calls", "1,200 calls". The plural is given
// whole where adding an s is wrong ("query", "queries"); empty means the noun with an s.
func Counted(n int64, noun, plural string) string {
	if plural == "" {
		plural = noun + "s"
	}
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + plural
}
