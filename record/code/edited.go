package code

import "strings"

// Edited reports whether a package of a module other than the main one is being edited rather than
// downloaded, and so is the target's own: of a workspace, or in place of another by a replace line. Its file, given by an
// absolute path, lies neither below a version nor in a vendor folder.
func Edited(pkg, file string) bool {
	return strings.HasPrefix(file, "/") && strings.Contains(pkg, ".") && !Versioned(file) && !Vendored(file)
}

// Versioned reports whether a path runs through a module cache: an element
// "name@v1.2.3", which trimmed paths keep.
func Versioned(file string) bool {
	_, after, ok := strings.Cut(file, "@v")
	return ok && after != "" && after[0] >= '0' && after[0] <= '9'
}

// Vendored reports whether a path runs through a vendor folder, in which modules lie by their paths: its first folder has the
// dot of a host. A package or a checkout may be called vendor, too.
func Vendored(file string) bool {
	for _, after, ok := strings.Cut(file, "/vendor/"); ok; _, after, ok = strings.Cut(after, "/vendor/") {
		if first, _, folder := strings.Cut(after, "/"); folder && strings.Contains(first, ".") {
			return true
		}
	}
	return false
}
