package blob

import (
	"context"
	"maps"
	"slices"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// rowMax is the most bytes of a blob, encoded, that go into a row. SQLite reads
// and writes what is below some 100 KB as fast in a row as in a file, and a row
// needs no sync of its own; larger ones would only make the database large.
const rowMax = 64 << 10

// Split stores the blobs that are too large for a row as files, durably, and
// returns the others, encoded, in the order of their hashes. The keys of bs are
// taken to be the hashes: reading checks them. Without rows all are files.
func (s *Store) Split(ctx context.Context, bs map[string][]byte) ([]engine.SmallBlob, error) {
	var small []engine.SmallBlob
	var large [][]byte
	for _, hash := range slices.Sorted(maps.Keys(bs)) {
		b := bs[hash]
		if s.rows == nil {
			large = append(large, b)
			continue
		}
		if err := checkHash(hash); err != nil {
			return nil, err
		}
		if int64(len(b)) > s.max {
			return nil, fault.New(fault.Exhausted, "a blob of %d bytes is over the limit of %d", len(b), s.max)
		}
		// What does not come near a row is not encoded twice.
		if len(b) <= 16*rowMax {
			if data := s.encode(b); len(data) <= rowMax {
				small = append(small, engine.SmallBlob{Hash: hash, Data: data})
				continue
			}
		}
		large = append(large, b)
	}
	if len(large) == 0 {
		return small, nil
	}
	_, err := s.PutAll(ctx, large)
	return small, err
}
