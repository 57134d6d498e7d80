package session

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/redline-go/redline/verify"
)

// Yardstick measures blocks with its Measurer and, next to each, the machine, by a
// fixed piece of work: computing (SHA-256) and waiting for a cache. So blocks of
// two sessions show whether the machine itself became slower or faster. The state
// of memory, disks, databases and the network does not show.
type Yardstick struct{ Measurer }

// Measure runs one block.
func (y Yardstick) Measure(ctx context.Context, s Side) (verify.Block, error) {
	before := spell()
	b, err := y.Measurer.Measure(ctx, s)
	if err == nil && b.Values != nil {
		b.Values[verify.MachineYardstick] = float64(min(before, spell()))
	}
	return b, err
}

// Sizes of the work.
const (
	// Half a millisecond of work, many times, in a core's own cache. With more
	// memory, or a few long tries, it varied more from block to block than services
	// do (a deviation of 7 % instead of 2 %) and was useless.
	spells      = 60
	spellBlocks = 8
	spellSteps  = 40_000
	spellMemory = 256 << 10
)

// spell returns how long the fixed work takes: the shortest try, because
// interruptions only make tries longer.
func spell() time.Duration {
	memory := make([]byte, spellMemory)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = byte(i >> 12) // so that the pages exist before the clock starts
	}
	best := time.Duration(1<<63 - 1)
	for range spells {
		begun := time.Now()
		sum := sha256.Sum256(memory[:16<<10])
		for range spellBlocks {
			sum = sha256.Sum256(append(memory[:16<<10:16<<10], sum[:]...))
		}
		// Each step's address depends on the previous step's result.
		at := binary.LittleEndian.Uint64(sum[:])
		for range spellSteps {
			at = at*6364136223846793005 + 1442695040888963407 + uint64(memory[at%spellMemory])
		}
		memory[at%spellMemory]++ // so that no step can be optimised away
		best = min(best, time.Since(begun))
	}
	return best
}
