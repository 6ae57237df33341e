package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fallbackPath is what a child gets when the program itself has no PATH.
const fallbackPath = "/usr/local/bin:/usr/bin:/bin"

// passed are the names that every child may see. The Go ones say where caches
// are and hold no secret, so that a build in a child with another HOME still
// finds what is on the disk; GOPROXY is not among them because its value is
// an address that may carry a password.
func passed() []string {
	return []string{
		"PATH", "HOME", "LANG", "TZ", "TMPDIR", "TERM",
		"GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOTOOLCHAIN", "GOROOT",
	}
}

// secretWords mark a name that is not passed on even when a caller allows it:
// a secret that a child really needs is given by value, in extra.
func secretWords() []string {
	return []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY"}
}

// Env makes the environment of a child, the only way there is: the allow-list
// (PATH HOME LANG LC_* TZ TMPDIR TERM and where Go keeps its caches), the
// names in allow that do not sound like a secret, and then extra, which wins.
// GOPROXY is off unless extra says otherwise: a build works from the caches
// on the disk and asks no network. The result is sorted, holds each name once
// and is never nil (a nil environment would mean "inherit all of ours").
func Env(extra map[string]string, allow ...string) []string {
	vars := map[string]string{"PATH": fallbackPath}
	for _, kv := range os.Environ() {
		name, value, ok := strings.Cut(kv, "=")
		if ok && mayPass(name, allow) {
			vars[name] = value
		}
	}
	for name, value := range goCaches(vars) {
		vars[name] = value
	}
	vars["GOPROXY"] = "off"
	for name, value := range extra {
		vars[name] = value
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func mayPass(name string, allow []string) bool {
	if slices.Contains(passed(), name) || strings.HasPrefix(name, "LC_") {
		return true
	}
	if !slices.Contains(allow, name) {
		return false
	}
	return !soundsSecret(name)
}

func soundsSecret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(secretWords(), func(w string) bool { return strings.Contains(upper, w) })
}

// goCaches spells out the default places of Go's caches under our HOME, where
// they exist: a child whose HOME is another directory would not find them.
func goCaches(vars map[string]string) map[string]string {
	home := vars["HOME"]
	if home == "" {
		return nil
	}
	gopath := vars["GOPATH"]
	if gopath == "" {
		gopath = filepath.Join(home, "go")
	}
	first, _, _ := strings.Cut(gopath, string(filepath.ListSeparator))
	found := map[string]string{}
	for name, dir := range map[string]string{
		"GOPATH":     gopath,
		"GOMODCACHE": filepath.Join(first, "pkg", "mod"),
		"GOCACHE":    filepath.Join(home, ".cache", "go-build"),
	} {
		if vars[name] != "" {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			found[name] = dir
		}
	}
	return found
}
