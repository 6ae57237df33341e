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
