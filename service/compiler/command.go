package compiler

import "os/exec"

// Command is the go command in dir. End it with SIGINT, so that it ends its compilers.
// Its temporary files, which it leaves behind if it is ended at the wrong moment, are in
// scratch: a folder that must exist and that its owner removes.
func Command(dir, scratch string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOTMPDIR="+scratch)
	return cmd
}
