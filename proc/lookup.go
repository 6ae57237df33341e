package proc

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Lookup returns the absolute path of a program on the program's own PATH. A
// relative entry of PATH is not looked at, so that a file in the current
// directory is never taken for a program. Not there is fault.NotFound.
func Lookup(name string) (string, error) {
	return lookIn(os.Getenv("PATH"), name)
}

func lookIn(path, name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", fault.New(fault.Invalid, "no program is named")
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fault.New(fault.NotFound, "program %q is not on the PATH", name).
		WithCode("ProgramNotFound").WithHint("install %s, or give its full path", name)
}

// valueOf returns the last value of a name in an environment.
func valueOf(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// Value returns the last value of a name in an environment that Env made, ""
// when it is not there.
func Value(env []string, name string) string {
	if name == "" {
		return ""
	}
	return valueOf(env, name)
}

// Path returns the directories in which a child's programs are looked for.
func Path() []string {
	var out []string
	for _, dir := range filepath.SplitList(valueOf(Env(nil), "PATH")) {
		if filepath.IsAbs(dir) {
			out = append(out, filepath.Clean(dir))
		}
	}
	return out
}
