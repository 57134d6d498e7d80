// Package suite lists the analyzers that redline judges with. Adding one means
// adding it here; there is no registration elsewhere.
package suite

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/host"
	"github.com/redline-go/redline/diagnose/passes/memory"
	"github.com/redline-go/redline/diagnose/passes/wait"
)

// All returns every analyzer, in the order of judgement.
func All() []diagnose.Analyzer {
	return []diagnose.Analyzer{
		host.Generator, host.Cold, host.Throttling, host.Procs, host.Descriptors,
		database.LockWait, database.SlowQuery, database.NPlusOne, database.PoolChurn, database.Unprepared, database.PoolWait, database.Saturated,
		wait.Lock, wait.Channel, wait.Flight, wait.Sleep, wait.Downstream, wait.Dial, wait.Syscall, wait.Sched,
		memory.Allocation, memory.Collector,
		cpu.JSON, cpu.Logging, cpu.RegexpCompile, cpu.RegexpMatch, cpu.Format, cpu.Crypto, cpu.Compress, cpu.Hot, wait.Spawn, cpu.Saturated,
		host.Connections,
	}
}
