package jail

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
)

// probeTime is how long one try may take.
const probeTime = 10 * time.Second

// trial writes where it may and where it may not. It says by its exit what
// went wrong; a write outside is looked for outside, too.
const trial = `: >inside || exit 3
if (: >"$1") 2>/dev/null; then exit 4; fi
if (: >/usr/.agents-trial) 2>/dev/null; then exit 5; fi
exit 0`

// probe returns the strongest backend that works, and why not a stronger one.
func (j *Jail) probe(ctx context.Context) (Backend, string, error) {
	var why []string
	for _, b := range []Backend{Bubblewrap, Landlock} {
		if j.cfg.Use != "" && j.cfg.Use != b {
			continue
		}
		err := j.try(ctx, b)
		if err == nil {
			return b, strings.Join(why, "; "), nil
		}
		if ctx.Err() != nil {
			return "", "", fault.As(ctx.Err())
		}
		why = append(why, string(b)+": "+fault.As(err).Msg)
	}
	if len(why) == 0 {
		why = []string{"the configuration asks for none (sandbox.backend)"}
	}
	return Unconfined, strings.Join(why, "; "), nil
}

// try runs the trial under a backend.
func (j *Jail) try(ctx context.Context, b Backend) error {
	if err := os.MkdirAll(j.cfg.Dir, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(j.cfg.Dir, "try-")
	if err != nil {
		return err
	}
	defer loosenAll(dir)
	tree, outside := filepath.Join(dir, "tree"), filepath.Join(dir, "outside")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return err
	}
	scratch, _, err := scratchDir(filepath.Join(dir, "scratch"))
	if err != nil {
		return err
	}
	bare := &Jail{cfg: j.cfg}
	bare.cfg.Home, bare.layers = "", new(bool) // the caches are not what is tried
	res, err := bare.run(ctx, b, Order{
		Tree: tree, Scratch: scratch, Argv: []string{"sh", "-c", trial, "sh", outside}, Timeout: probeTime, MaxOutput: 4096,
	})
	if err != nil {
		return err
	}
	if _, err := os.Lstat(outside); err == nil || res.Exit == 4 || res.Exit == 5 {
		return fault.New(fault.Unavailable, "a write outside of the sandbox was not stopped")
	}
	if _, err := os.Lstat(filepath.Join(tree, "inside")); err != nil || res.Exit != 0 {
		return fault.New(fault.Unavailable, "a try ended with exit status %d: %s", res.Exit, lastLine(res.Output))
	}
	return nil
}

// lastLine is the last line of an output that says something.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(b), "?")), "\n")
	return lines[len(lines)-1]
}

// Layered reports whether what programs write to caches is laid over the
// machine's own, for a person.
func (j *Jail) Layered(ctx context.Context) bool { return j.canLayer(ctx) }
