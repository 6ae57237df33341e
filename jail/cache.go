package jail

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// cache is a directory of a tool chain that holds no secret and that a build
// without a network cannot do without. Each is named exactly: the directories
// around them hold keys and settings (~/.cargo/credentials.toml, ~/.npmrc).
type cache struct {
	name   string // of the plan's own part
	from   string // on this machine
	at     string // inside
	layer  bool   // programs write to it; what they write stays with the plan
	always bool   // it is there for the plan even when this machine has none
}

// named is one line of the table of caches.
type named struct {
	name   string
	env    string // the variable that says where it is
	sub    string // below the variable's value
	usual  string // below the home, when the variable is not set
	inside string // below the home inside; "" is the same path as here
	layer  bool
	always bool
}

// table lists the caches.
func table() []named {
	return []named{
		{name: "go-mod", env: "GOMODCACHE", usual: "go/pkg/mod"},
		{name: "go-build", env: "GOCACHE", usual: ".cache/go-build", layer: true, always: true},
		{name: "rustup", env: "RUSTUP_HOME", usual: ".rustup"},
		{name: "cargo-bin", env: "CARGO_HOME", sub: "bin", usual: ".cargo/bin"},
		{name: "cargo-registry", env: "CARGO_HOME", sub: "registry", usual: ".cargo/registry", inside: ".cargo/registry", layer: true},
		{name: "cargo-git", env: "CARGO_HOME", sub: "git", usual: ".cargo/git", inside: ".cargo/git", layer: true},
		{name: "npm", env: "npm_config_cache", sub: "_cacache", usual: ".npm/_cacache", inside: ".npm/_cacache", layer: true},
		{name: "nvm", env: "NVM_DIR", sub: "versions", usual: ".nvm/versions"},
		{name: "pip", usual: ".cache/pip", inside: ".cache/pip", layer: true},
		{name: "uv", env: "UV_CACHE_DIR", usual: ".cache/uv", inside: ".cache/uv", layer: true},
		{name: "uv-python", usual: ".local/share/uv/python"},
		{name: "pyenv", env: "PYENV_ROOT", sub: "versions", usual: ".pyenv/versions"},
		{name: "maven", usual: ".m2/repository", inside: ".m2/repository", layer: true},
		{name: "gradle", env: "GRADLE_USER_HOME", sub: "caches", usual: ".gradle/caches", inside: ".gradle/caches", layer: true},
		{name: "gradle-wrapper", env: "GRADLE_USER_HOME", sub: "wrapper", usual: ".gradle/wrapper", inside: ".gradle/wrapper"},
		{name: "browsers", env: "PLAYWRIGHT_BROWSERS_PATH", usual: ".cache/ms-playwright"},
	}
}

// caches are those that this machine has, for a program with a network or
// without.
func (j *Jail) caches(online bool) []cache {
	rows := table()
	var names []string
	for _, n := range rows {
		if n.env != "" {
			names = append(names, n.env)
		}
	}
	set := proc.Env(nil, names...)
	var out []cache
	for _, n := range rows {
		from := proc.Value(set, n.env)
		switch {
		case from != "" && filepath.IsAbs(from):
			from = filepath.Join(from, n.sub)
		case j.cfg.Home != "":
			from = filepath.Join(j.cfg.Home, n.usual)
		default:
			continue
		}
		if online && n.name == "go-mod" { // which is only read without a network
			n.layer, n.always = true, true
		}
		c := cache{name: n.name, from: from, at: from, layer: n.layer, always: n.always}
		if n.inside != "" {
			c.at = filepath.Join(jailHome, n.inside)
		}
		if fi, err := os.Stat(from); err != nil || !fi.IsDir() {
			if !n.always {
				continue
			}
			c.from = ""
		}
		out = append(out, c)
	}
	return out
}

// layer is one overlay to mount: what is read, what is written, and the result.
type layer struct{ lower, upper, work, merged string }

// lay adds the caches to a jail. One that programs write to is laid over the
// machine's own, which stays as it is; where that cannot be done, they get an
// empty one of the plan, or the machine's to read.
func (j *Jail) lay(ctx context.Context, a *args, caches []cache, dir string) (layers []layer, vars map[string]string, err error) {
	vars = map[string]string{
		"CARGO_HOME": jailHome + "/.cargo", "CARGO_NET_OFFLINE": "true",
		"npm_config_cache": jailHome + "/.npm", "npm_config_update_notifier": "false",
		"UV_CACHE_DIR": jailHome + "/.cache/uv", "UV_OFFLINE": "1",
		"GRADLE_USER_HOME": jailHome + "/.gradle",
	}
	for _, c := range caches {
		switch c.name {
		case "go-build":
			vars["GOCACHE"] = c.at
		case "go-mod":
			vars["GOMODCACHE"] = c.at
		case "rustup":
			vars["RUSTUP_HOME"] = c.at
		case "browsers":
			vars["PLAYWRIGHT_BROWSERS_PATH"] = c.at
		}
		if !c.layer {
			a.add("--ro-bind", c.from, c.at)
			continue
		}
		l := layer{lower: c.from}
		for name, p := range map[string]*string{"upper": &l.upper, "work": &l.work, "merged": &l.merged, "own": nil} {
			at := filepath.Join(dir, c.name, name)
			if err := os.MkdirAll(at, 0o700); err != nil {
				return nil, nil, fault.New(fault.Unavailable, "sandbox: %w", err)
			}
			if p != nil {
				*p = at
			}
		}
		switch {
		case c.from != "" && l.sayable() && j.canLayer(ctx):
			layers = append(layers, l)
			a.add("--bind", l.merged, c.at)
		case c.always:
			a.add("--bind", filepath.Join(dir, c.name, "own"), c.at)
		default:
			a.add("--ro-bind", c.from, c.at)
		}
	}
	return layers, vars, nil
}

// sayable reports whether the paths can be written as options of a mount.
func (l layer) sayable() bool { return !strings.ContainsAny(l.lower+l.upper+l.work, ",:\\\"") }

// mounting makes the overlays and then becomes the rest of its arguments. It
// runs in a user namespace, where the root it is has no rights outside.
const mounting = `n=$1; shift; while [ "$n" -gt 0 ]; do mount -t overlay overlay -o "$1" "$2" || exit 125; shift 2; n=$((n-1)); done; exec "$@"`

// overlaid is what runs a command after the layers are mounted, for it alone.
func overlaid(layers []layer) []string {
	argv := []string{"unshare", "--map-root-user", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", mounting, "sh", strconv.Itoa(len(layers))}
	for _, l := range layers {
		argv = append(argv, "lowerdir="+l.lower+",upperdir="+l.upper+",workdir="+l.work+",userxattr", l.merged)
	}
	return argv
}

// canLayer tries once whether overlays can be mounted here, where the scratch
// directories are.
func (j *Jail) canLayer(ctx context.Context) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.layers != nil {
		return *j.layers
	}
	ok := j.tryLayer(ctx) == nil
	if ctx.Err() == nil {
		j.layers = &ok
	}
	return ok
}

func (j *Jail) tryLayer(ctx context.Context) error {
	if err := os.MkdirAll(j.cfg.Dir, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(j.cfg.Dir, "try-")
	if err != nil {
		return err
	}
	defer loosenAll(dir)
	l := layer{filepath.Join(dir, "l"), filepath.Join(dir, "u"), filepath.Join(dir, "w"), filepath.Join(dir, "m")}
	for _, d := range []string{l.lower, l.upper, l.work, l.merged} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(l.lower, "below"), nil, 0o600); err != nil {
		return err
	}
	try := append(overlaid([]layer{l}), "/bin/sh", "-c", `cd "$1" && : >above && rm below`, "sh", l.merged)
	res, err := j.cfg.Proc.Run(ctx, proc.Command{Dir: "/", Argv: try, Env: proc.Env(nil), Timeout: probeTime, MaxOutput: 4096})
	if err != nil {
		return err
	}
	if res.Exit != 0 {
		return fault.New(fault.Unavailable, "overlayfs: %s", lastLine(res.Output))
	}
	for name, file := range map[string]string{"written above": filepath.Join(l.upper, "above"), "left below": filepath.Join(l.lower, "below")} {
		if _, err := os.Lstat(file); err != nil {
			return fault.New(fault.Unavailable, "overlayfs: what was %s is not there", name)
		}
	}
	return nil
}
