package sandbox

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
)

// isGit reports whether some file system or git itself would take name for
// ".git": in any letter case, with trailing dots or spaces, with code points
// that are ignored when names are compared, or by its short name.
func isGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[:i] // a stream of that file
	}
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// isOdd reports whether a name cannot be carried through JSON and lists of
// lines without loss.
func isOdd(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsAny(name, "\n\x00")
}

// checkPath refuses what is not a clean relative path to something a change
// may touch. Nothing at or below a .git ever is.
func checkPath(p string) error {
	if p == "" || p == "." || path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") || isOdd(p) {
		return fault.New(fault.Denied, "%q is not a path inside the resource", p).With("path", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if isGit(part) {
			return fault.New(fault.Denied, "%s: nothing is written to the data of a git repository", p).With("path", p)
		}
	}
	return nil
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
