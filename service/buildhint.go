package service

import "strings"

// hints are remedies for the go command's build errors, by a part of the message. The
// first that matches counts.
var hints = []struct{ says, do string }{
	{"go.mod file not found", "the folder is not in a module: name the folder with the go.mod or one below it, or " +
		"make one there with go mod init and go mod tidy"},
	{"cannot find main module", "the folder is not in a module: name the folder with the go.mod or one below it, or " +
		"make one there with go mod init and go mod tidy"},
	{"not one of the workspace modules", "add it with go work use, or set GOWORK=off"},
	{"can only use path@version syntax", "get the sources first, with git clone, and name the folder there"},
	{"must not be replaced", "it is in the module cache, which builds cannot change: copy or clone it to your own folder and name that"},
	{"no matching files found", "an embedded file is missing: make it first, as the project's own build does (a front end, generated code)"},
	{"no embeddable files", "an embedded folder is empty: fill it first, as the project's own build does (a front end, generated code)"},
	{"build constraints exclude all Go files", "name the tags that the project builds with: --build-flags=-tags=NAME"},
	{"toolchain not available", "install the version of Go that go.mod asks for, or set GOTOOLCHAIN=auto and the go command fetches it"},
	{"GOTOOLCHAIN=local", "install the version of Go that go.mod asks for, or set GOTOOLCHAIN=auto and the go command fetches it"},
	{"no space left on device", "make room: with the hooks Go compiles most packages once more, and its build cache grows by a " +
		"gigabyte or two; go clean -cache empties it"},
	{"inconsistent vendoring", "go mod vendor, or ignore the vendor folder with --build-flags=-mod=mod"},
	{"missing go.sum entry", "go mod tidy"},
	{"updates to go.mod needed", "go mod tidy"},
	{"no required module provides package", "go mod tidy; where the package is generated, generate it first"},
	{"C compiler", "install a C compiler, or set CGO_ENABLED=0 if the program works without C"},
	{`"gcc": executable file not found`, "install a C compiler, or set CGO_ENABLED=0 if the program works without C"},
	{`"pkg-config": executable file not found`, "install pkg-config and the C libraries that the project names"},
	{"use of internal package", "build it from the module that owns the package"},
}

// hintFor returns the remedy for the go command's output, "" if the output is clear
// enough.
func hintFor(output string) string {
	for _, h := range hints {
		if strings.Contains(output, h.says) {
			return h.do
		}
	}
	return ""
}
