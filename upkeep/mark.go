package upkeep

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/store"
)

// Blobs is what reading needs of the blob store.
type Blobs interface {
	GetTo(ctx context.Context, hash string, w io.Writer) error
	Has(hash string) bool
}

// marks is every name that can be reached from the rows.
type marks map[string]bool

// mark adds what the rows name and, from blob to blob, what those name. It asks
// for the form of a name and never for its meaning, so that a field that is
// added to a record, a manifest or a state counts without being listed here.
// A blob that is named and not there names nothing; one that cannot be read is
// an error, since what it names would look unused.
func (m marks) mark(ctx context.Context, c *store.Care, blobs Blobs, dropBases func(ident.PlanID) bool) error {
	var todo []string
	add := func(hash string) {
		if !m[hash] {
			m[hash] = true
			todo = append(todo, hash)
		}
	}
	if err := c.Names(dropBases, func(n store.Name) { add(n.Hash) }); err != nil {
		return err
	}
	for len(todo) > 0 {
		hash := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s := &scanner{found: add}
		err := blobs.GetTo(ctx, hash, s)
		switch {
		case errors.Is(err, errLeaf), fault.Is(err, fault.NotFound):
		case err != nil:
			return err
		}
		s.end()
	}
	return nil
}

// errLeaf ends the reading of a blob that names nothing.
var errLeaf = errors.New("names nothing")

// scanner finds names in what is written to it. Only JSON and the list of a
// snapshot name blobs; anything else is bytes of files and outputs.
type scanner struct {
	found func(string)
	begun bool
	rest  []byte // the end of what was written, where a name may be cut
}

const snapshotHead = "agents snapshot "

// Write implements io.Writer.
func (s *scanner) Write(p []byte) (int, error) {
	if !s.begun && len(p) > 0 {
		s.begun = true
		first := bytes.TrimLeft(p, " \t\r\n")
		if len(first) > 0 && first[0] != '{' && first[0] != '[' && !bytes.HasPrefix(first, []byte(snapshotHead)) {
			return 0, errLeaf
		}
	}
	text := append(s.rest, p...)
	cut := len(text)
	for cut > 0 && len(text)-cut < keepRest && isHex(text[cut-1]) {
		cut--
	}
	store.Hashes(text[:cut], s.found)
	s.rest = append([]byte(nil), text[cut:]...)
	return len(p), nil
}

// keepRest is more than a name has digits, so that a longer run stays longer.
const keepRest = 80

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

func (s *scanner) end() { store.Hashes(s.rest, s.found) }
