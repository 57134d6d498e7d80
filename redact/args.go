package redact

import (
	"path"
	"strings"
)

// Args hides secrets in a command's arguments: as Text does in each, the argument
// after a flag whose name says secret, and what a few well-known programs take
// as a password (mysql -pVALUE, curl -u user:VALUE).
func (r *Redactor) Args(args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = r.Text(arg)
		if from, ok := secretArg(args, i); ok {
			out[i] = arg[:from] + Mark
		}
	}
	return out
}

// LearnArgs learns what Args hides.
func (r *Redactor) LearnArgs(args []string) {
	for i, arg := range args {
		r.LearnText(arg)
		if from, ok := secretArg(args, i); ok {
			r.Learn(arg[from:])
		}
	}
}

// secretArg reports whether an argument is a secret, from which byte on.
func secretArg(args []string, i int) (from int, ok bool) {
	arg := args[i]
	program := path.Base(args[0])
	if strings.HasPrefix(program, "mysql") || strings.HasPrefix(program, "mariadb") {
		if strings.HasPrefix(arg, "-p") && len(arg) > 2 && i > 0 {
			return 2, true
		}
	}
	if i == 0 || arg == "" || placeholder(arg) || innocentValue(arg) {
		return 0, false
	}
	flag := args[i-1]
	if !strings.HasPrefix(flag, "-") || strings.Contains(flag, "=") || strings.HasPrefix(arg, "-") {
		return 0, false
	}
	switch name := strings.TrimLeft(flag, "-"); {
	case flag == "-p":
		return 0, loose(arg)
	case flag == "-u" || flag == "--user":
		user, _, found := strings.Cut(arg, ":")
		return len(user) + 1, found && program == "curl"
	case flag == "-H" || flag == "--header" || flag == "-e" || flag == "--env":
		return 0, false // a pair: Text has examined it
	default:
		return 0, ofName(name) != innocent
	}
}
