package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// sameName is the code of a conflict of a change set with itself.
const sameName = "SameName"

// folded is what a file system that ignores letter case and the form of
// accents would compare instead of a path.
func folded(p string) string {
	out := []rune(norm.NFD.String(p))
	for i, r := range out {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		out[i] = least
	}
	return norm.NFD.String(string(out))
}

// folds is a fault when two of the paths that come are one path for the file
// system: the second would take the place of the first. Only then is the file
// system asked.
func (x *txn) folds(root int, set plan.ChangeSet) error {
	seen := map[string]string{}
	var twins []string
	for _, c := range set {
		if c.After.Kind == plan.Absent {
			continue
		}
		for p := c.Path; p != "."; p = path.Dir(p) {
			key := folded(p)
			other, ok := seen[key]
			if ok && other != p {
				twins = append(twins, other, p)
			}
			seen[key] = p
		}
	}
	if len(twins) == 0 {
		return nil
	}
	slices.Sort(twins)
	twins = slices.Compact(twins)
	probe := x.t.cfg.Folds
	if probe == nil {
		probe = foldsNames
	}
	var same bool
	err := x.see("probe", ".", func() (err error) { same, err = probe(x.roots[root]); return err })
	if err != nil {
		return fail(".", err)
	}
	if same {
		return fault.New(fault.Conflict, "%s and %s are one name for the file system of %s", twins[0], twins[1], x.roots[root].Name()).
			With("path", twins[0]).With("paths", twins).WithCode(sameName).
			WithHint("rename one of them in the plan, or apply to a file system that tells them apart")
	}
	return nil
}

// foldsNames tries with a file of its own whether a directory takes two
// spellings of a name for one.
func foldsNames(dir *os.Root) (bool, error) {
	const name = tempPrefix + "probe-caf\u00e9" + newSuffix
	others := []string{tempPrefix + "PROBE-CAF\u00c9" + newSuffix, tempPrefix + "probe-cafe\u0301" + newSuffix}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	same := false
	for _, o := range others {
		fi, e := dir.Lstat(o)
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		same = same || e == nil && os.SameFile(mine, fi)
	}
	return same, errors.Join(err, f.Close(), dir.Remove(name))
}
