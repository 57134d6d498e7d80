package port

import (
	"net"
	"testing"
)

// TestReserved: whoever asks for the port by number gets it, and nobody answers before.
func TestReserved(t *testing.T) {
	for _, host := range []string{"127.0.0.77", "localhost"} {
		address, err := Reserve(host)
		if err != nil {
			t.Fatal(err)
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			t.Errorf("%s answers before anybody listens", address)
		}
		for range 2 { // a server that starts again gets it again
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("%s is reserved, and whoever asks for it is refused: %v", address, err)
			}
			l.Close()
		}
	}
}

// TestGivenToNobody: the kernel never gives out a reserved port again. Of 2,000 ports among
// its 28,000, some 70 would be given twice.
func TestGivenToNobody(t *testing.T) {
	given := map[string]bool{}
	for range 2000 {
		address, err := Reserve("127.0.0.78")
		if err != nil {
			t.Fatal(err)
		}
		if given[address] {
			t.Fatalf("%s is given twice", address)
		}
		given[address] = true
	}
}
