package gitrepo

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
)

// The modes of an entry that can be committed here.
const (
	ModeFile = "100644"
	ModeExec = "100755"
	ModeLink = "120000"
	modeTree = "40000"
)

// Entry is what a tree has at a path. One without an id is not there.
type Entry struct {
	Mode string
	ID   string
}

// Edit is a path of the work tree, from its top, with what it was and what it
// becomes.
type Edit struct {
	Path     string
	Was, Now Entry
}

// Commit is a commit that was made, as bytes.
type Commit struct {
	ID      string
	Objects []Object // all that it needs and that may not be there; blobs of files excepted
}

// named is an entry with its name.
type named struct {
	name string
	Entry
}

// tree reads the entries of a tree.
func (r *Repo) tree(id string) ([]named, error) {
	if id == "" {
		return nil, nil
	}
	o, err := r.Object(id)
	if err != nil {
		return nil, err
	}
	var out []named
	for b := o.Body; len(b) > 0; {
		head, rest, ok := bytes.Cut(b, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < 20 || o.Kind != "tree" {
			return nil, fault.New(fault.Corrupt, "object %s of %s is not a tree", id, r.Dir)
		}
		out = append(out, named{name, Entry{mode, hex.EncodeToString(rest[:20])}})
		b = rest[20:]
	}
	return out, nil
}

// encode is the object of a tree, in git's order: as if directories ended in /.
func encode(all []named) Object {
	key := func(n named) string {
		if n.Mode == modeTree {
			return n.name + "/"
		}
		return n.name
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, n := range all {
		id, _ := hex.DecodeString(n.ID) // it came from one, or from a sum
		fmt.Fprintf(&b, "%s %s\x00%s", n.Mode, n.name, id)
	}
	return Object{"tree", b.Bytes()}
}

// TreeOf returns the tree of a commit, "" for none.
func (r *Repo) TreeOf(commit string) (string, error) {
	if commit == "" {
		return "", nil
	}
	o, err := r.Object(commit)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(o.Body), "\n")
	id, ok := strings.CutPrefix(line, "tree ")
	if o.Kind != "commit" || !ok || !isID(id) {
		return "", fault.New(fault.Corrupt, "object %s of %s is not a commit", commit, r.Dir)
	}
	return id, nil
}

// Differs returns the paths whose entry in the tree is not what the edits began
// with.
func (r *Repo) Differs(tree string, edits []Edit) (out []string, err error) {
	for _, e := range edits {
		is, err := r.at(tree, e.Path)
		if err != nil {
			return nil, err
		}
		if is.Mode == modeTree {
			is = Entry{} // a directory that became a file
		}
		if is != e.Was {
			out = append(out, e.Path)
		}
	}
	return out, nil
}

// at is the entry of a path, empty when it is not there.
func (r *Repo) at(tree, p string) (Entry, error) {
	e := Entry{modeTree, tree}
	for part := range strings.SplitSeq(p, "/") {
		if e.Mode != modeTree || e.ID == "" {
			return Entry{}, nil
		}
		all, err := r.tree(e.ID)
		if err != nil {
			return Entry{}, err
		}
		e = Entry{}
		for _, n := range all {
			if n.name == part {
				e = n.Entry
			}
		}
	}
	return e, nil
}

// Write makes the tree that a tree becomes by the edits.
func (r *Repo) Write(tree string, edits []Edit) (id string, made []Object, err error) {
	all, err := r.tree(tree)
	if err != nil {
		return "", nil, err
	}
	below := map[string][]Edit{}
	var order []string
	for _, e := range edits { // what goes makes room for what comes
		head, rest, deep := strings.Cut(e.Path, "/")
		if !deep {
			if e.Now.ID == "" {
				all = slices.DeleteFunc(all, func(n named) bool { return n.name == head && n.Mode != modeTree })
			}
			continue
		}
		if below[head] == nil {
			order = append(order, head)
		}
		e.Path = rest
		below[head] = append(below[head], e)
	}
	for _, head := range order {
		sub := ""
		if i := slices.IndexFunc(all, func(n named) bool { return n.name == head }); i >= 0 {
			if all[i].Mode == modeTree {
				sub = all[i].ID
			}
			all = slices.Delete(all, i, i+1)
		}
		id, objects, err := r.Write(sub, below[head])
		if err != nil {
			return "", nil, err
		}
		made = append(made, objects...)
		if id != "" {
			all = append(all, named{head, Entry{modeTree, id}})
		}
	}
	for _, e := range edits {
		if e.Now.ID != "" && !strings.Contains(e.Path, "/") {
			all = slices.DeleteFunc(all, func(n named) bool { return n.name == e.Path })
			all = append(all, named{e.Path, e.Now})
		}
	}
	if len(all) == 0 {
		return "", made, nil
	}
	o := encode(all)
	return o.ID(), append(made, o), nil
}

// Person is who makes a commit.
type Person struct{ Name, Email string }

func (p Person) line(at time.Time) string {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r == '<' || r == '>' || r < ' ' {
				return -1
			}
			return r
		}, s))
	}
	return fmt.Sprintf("%s <%s> %d %s", clean(p.Name), clean(p.Email), at.Unix(), at.Format("-0700"))
}

// Commit makes a commit of the edits on top of a parent ("" for none). A path
// that the parent has otherwise than the edits began with is fault.Conflict.
func (r *Repo) Commit(parent string, edits []Edit, author, committer Person, at time.Time, message string) (Commit, error) {
	tree, err := r.TreeOf(parent)
	if err != nil {
		return Commit{}, err
	}
	differs, err := r.Differs(tree, edits)
	if err != nil {
		return Commit{}, err
	}
	if len(differs) > 0 {
		return Commit{}, fault.New(fault.Conflict, "%s was not committed as the plan found it", strings.Join(differs, ", ")).
			With("path", differs[0]).WithCode("NotCommitted").
			WithHint("commit what you have there first and let a new plan do it, or apply --as files")
	}
	id, objects, err := r.Write(tree, edits)
	if err != nil {
		return Commit{}, err
	}
	if id == "" {
		empty := encode(nil)
		id, objects = empty.ID(), append(objects, empty)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", id)
	if parent != "" {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	message = strings.TrimRight(strings.ReplaceAll(message, "\x00", ""), "\n") + "\n"
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", author.line(at), committer.line(at), message)
	o := Object{"commit", []byte(b.String())}
	return Commit{o.ID(), append(objects, o)}, nil
}

// LogLine is a line of git's history of a name.
func LogLine(was, is string, who Person, at time.Time, what string) string {
	if was == "" {
		was = strings.Repeat("0", 40)
	}
	return fmt.Sprintf("%s %s %s\t%s\n", was, is, who.line(at), what)
}
