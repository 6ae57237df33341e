package jail

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// What a program sees inside.
const (
	jailHome = "/home/agent"
	jailTmp  = "/tmp"
	jailTree = "/w" // where the real place cannot be had
	jailUser = "1000"
	shmSize  = 1 << 30
)

// inner is run by the shell inside: bounds that only the process itself can
// set, then the program. The number of threads is counted by the kernel within
// the jail alone, and not at all for root; what is refused is kept by looking.
const inner = `ulimit -c 0; ulimit -f "$1"; ulimit -n 4096 2>/dev/null; ulimit -u "$2" 2>/dev/null; b=$3; shift 3
if [ -n "$b" ]; then
	p=$("$b" ` + bridgeWord + ` ` + jailSocket + ` 2>/dev/null &)
	[ -n "$p" ] || { echo "sandbox: the bridge to the network did not start" >&2; exit 125; }
	http_proxy=http://127.0.0.1:$p https_proxy=$http_proxy HTTP_PROXY=$http_proxy HTTPS_PROXY=$http_proxy
	no_proxy=localhost,127.0.0.1,::1 NO_PROXY=$no_proxy
	export http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY
	unset p
fi
unset b 2>/dev/null; exec "$@"`

// wrapped is the command that runs the order under bubblewrap.
func (j *Jail) wrapped(ctx context.Context, o Order, out *exit) (proc.Command, error) {
	bwrap, err := proc.Lookup("bwrap")
	if err != nil {
		return proc.Command{}, err
	}
	if _, err := proc.Lookup(o.Argv[0]); err != nil { // PATH is the same inside
		return proc.Command{}, err
	}
	etc, err := j.etc(o.Network.Any)
	if err != nil {
		return proc.Command{}, err
	}
	caches := j.caches(!o.Network.Off())
	at := placeOf(o.At, caches)
	a := &args{}
	a.add("--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent",
		"--cap-drop", "ALL", "--uid", jailUser, "--gid", jailUser, "--hostname", "agents")
	if o.Network.Any {
		a.add("--share-net")
	}
	system(a)
	a.add(etc...)
	a.add("--proc", "/proc", "--dev", "/dev", "--size", strconv.Itoa(shmSize), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
	a.add("--tmpfs", "/run")
	bridge := out.wire(a, j.cfg.Self)
	a.add("--remount-ro", "/run")
	a.add("--bind", filepath.Join(o.Scratch, tmpName), jailTmp)
	a.add("--bind", filepath.Join(o.Scratch, homeName), jailHome)
	for _, dir := range j.readOnly() {
		a.add("--ro-bind-try", dir, dir)
	}
	layers, vars, err := j.lay(ctx, a, caches, filepath.Join(o.Scratch, cacheName))
	if err != nil {
		return proc.Command{}, err
	}
	if o.ReadOnly {
		a.add("--ro-bind", o.Tree, at)
	} else {
		a.add("--bind", o.Tree, at)
	}
	a.add("--remount-ro", "/", "--chdir", filepath.Join(at, filepath.FromSlash(o.Dir)), "--")
	l := j.cfg.Limits
	a.add("/bin/sh", "-c", inner, "sh", strconv.FormatInt(l.FileSize/512, 10), strconv.Itoa(4*l.Processes), bridge)
	a.add(o.Argv...)
	argv := append([]string{bwrap}, a.list...)
	if len(layers) > 0 {
		argv = append(overlaid(layers), argv...)
	}
	online(vars, o.Network)
	vars["GOPATH"] = jailHome + "/go"
	return proc.Command{Dir: "/", Argv: argv, Env: o.env(at, jailHome, jailTmp, vars)}, nil
}

// args is an argument list that grows.
type args struct{ list []string }

func (a *args) add(s ...string) { a.list = append(a.list, s...) }

// system adds what every program needs to read: /usr, and the directories
// beside it as they are here, links or not.
func system(a *args) {
	a.add("--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if to, err := os.Readlink(dir); err == nil {
			a.add("--symlink", to, dir)
		} else {
			a.add("--ro-bind-try", dir, dir)
		}
	}
	for _, dir := range []string{"/nix/store", "/gnu/store"} {
		a.add("--ro-bind-try", dir, dir)
	}
}

// shared are the files of /etc that say how this machine is set up and hold no
// secret.
func shared() []string {
	return []string{
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates.conf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
		"/etc/fonts", "/etc/mime.types", "/etc/protocols", "/etc/services", "/etc/debian_version", "/etc/os-release",
		"/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/java-25-openjdk", "/etc/perl", "/etc/python3",
	}
}

// own are the files of /etc that a jail brings along.
func own() map[string]string {
	return map[string]string{
		"passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:" + jailUser + ":" + jailUser + ":agent:" + jailHome + ":/bin/sh\n" +
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"group":         "root:x:0:\nagent:x:" + jailUser + ":\nnogroup:x:65534:\n",
		"hosts":         "127.0.0.1 localhost agents\n::1 localhost\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nprotocols: files\nservices: files\n",
		"resolv.conf":   "",
	}
}

// etc returns the arguments for /etc. With the network its own list of hosts
// and of name servers is the machine's.
func (j *Jail) etc(network bool) ([]string, error) {
	a := &args{}
	for _, file := range shared() {
		a.add("--ro-bind-try", file, file)
	}
	dir := filepath.Join(j.cfg.Dir, "etc")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	for name, text := range own() {
		if network && (name == "hosts" || name == "resolv.conf") {
			a.add("--ro-bind-try", "/etc/"+name, "/etc/"+name)
			continue
		}
		file := filepath.Join(dir, name)
		if err := keepFile(file, []byte(text)); err != nil {
			return nil, fault.New(fault.Unavailable, "sandbox: %w", err)
		}
		a.add("--ro-bind", file, "/etc/"+name)
	}
	return a.list, nil
}

// keepFile makes the file hold the text. Another process may be doing the same.
func keepFile(file string, text []byte) error {
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, text) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// placeOf is where a tree is seen: at its real place unless that would cover
// something that programs need, or cannot be made.
func placeOf(at string, caches []cache) string {
	if !filepath.IsAbs(at) || strings.ContainsRune(at, 0) {
		return jailTree
	}
	at = filepath.Clean(at)
	for _, never := range []string{"/proc", "/dev", "/sys", "/run", jailHome, jailTree} {
		if within(at, never) {
			return jailTree
		}
	}
	over := []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", jailTmp, jailHome, "/proc", "/dev", "/run"}
	for _, c := range caches {
		over = append(over, c.at)
	}
	for _, m := range over {
		if within(m, at) {
			return jailTree
		}
	}
	if within(at, "/usr") || within(at, "/etc") {
		if fi, err := os.Stat(at); err != nil || !fi.IsDir() {
			return jailTree // the place cannot be made in what is read-only
		}
	}
	return at
}

// within reports whether a path is dir or below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// readOnly are the directories of PATH that are not below /usr, with the rest
// of their installation, and what the configuration names. Of the person's home
// only the directory itself is shown, never what is around it.
func (j *Jail) readOnly() []string {
	out := append([]string{}, j.cfg.ReadOnly...)
	for _, dir := range proc.Path() {
		if within(dir, "/usr") || within(dir, "/bin") || within(dir, "/sbin") {
			continue
		}
		top := filepath.Dir(dir)
		if filepath.Base(dir) != "bin" || top == "/" || strings.Count(top, "/") < 2 || within(j.cfg.Home, top) || within(dir, j.cfg.Home) || within(j.cfg.Dir, top) {
			top = dir
		}
		if within(j.cfg.Home, top) || within(j.cfg.Dir, top) || top == "/" {
			continue // it would show the home or our own data
		}
		out = append(out, top)
	}
	return out
}

// broken is the error of a run in which bubblewrap itself failed: it says so in
// one line and has started nothing.
func broken(res proc.Result) error {
	line, _, _ := bytes.Cut(res.Output, []byte("\n"))
	if res.Exit != 1 || !bytes.HasPrefix(line, []byte("bwrap: ")) || int64(len(line))+1 < res.Total {
		return nil
	}
	return fault.New(fault.Unavailable, "the sandbox could not be set up: %s", line).WithCode(NoSandbox).
		WithHint("agents doctor tells more")
}
