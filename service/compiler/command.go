package compiler

import "os/exec"

// Command is the go command in dir. It is to be asked by SIGINT to end, so that it
// ends its compilers. Its temporary files, which it leaves behind when it is ended at
// the wrong moment, lie in scratch: a folder that exists, and that is removed by its
// owner.
func Command(dir, scratch string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOTMPDIR="+scratch)
	return cmd
}
