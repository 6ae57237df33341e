package ident

import (
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/oklog/ulid/v2"

	"github.com/cleveragents/agents/fault"
)

// The ids of the entities that have a ULID. Distinct types, so that a
// decision's id cannot be passed where a plan's is wanted.
type (
	PlanID       string
	DecisionID   string
	CallID       string // one model call
	ToolCallID   string
	HunkID       string
	CheckpointID string
	SessionID    string
	ApprovalID   string
	ResourceID   string
	ResultID     string // one run of a validation
)

// Source makes ULIDs that strictly increase within one process even when the
// clock stands still or goes back (T51 in docs/threats.txt): a time before the last one
// is read as the last one. Safe for concurrent use.
type Source struct {
	mu      sync.Mutex
	now     func() time.Time
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewSource returns a source that reads time from now and randomness from
// entropy (crypto/rand.Reader outside tests).
func NewSource(now func() time.Time, entropy io.Reader) *Source {
	return &Source{now: now, entropy: ulid.Monotonic(entropy, 0)}
}

// New returns the next ULID in its 26-letter form. It panics only when the
// random source fails, where no safe id can be made.
func (s *Source) New() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A clock before 1970 has no place in a ULID, nor one after 10889.
	if ms := uint64(max(s.now().UnixMilli(), 0)); ms > s.last {
		s.last = min(ms, ulid.MaxTime()-1)
	}
	id, err := ulid.New(s.last, s.entropy)
	if err != nil { // the random bits overflowed inside one millisecond, or could not be read
		s.last++
		id = ulid.MustNew(s.last, s.entropy)
	}
	return id.String()
}

// MinSuffix is the shortest unique end of a ULID that stands for it.
const MinSuffix = 4

// ParseRef normalises what a person typed for a ULID: the whole of it or a
// suffix of at least MinSuffix letters; lower case is accepted. It returns
// whether s is a whole ULID.
func ParseRef(s string) (ref string, whole bool, err error) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
		return "", false, fault.New(fault.Invalid, "id %q: only letters and digits occur in ids", s)
	}
	ref = strings.ToUpper(s)
	if len(ref) < MinSuffix || len(ref) > ulid.EncodedSize {
		return "", false, fault.New(fault.Invalid, "id %q: give the 26 letters of the id or at least its last %d", s, MinSuffix)
	}
	if i := strings.IndexFunc(ref, func(r rune) bool {
		return !strings.ContainsRune(ulid.Encoding, r)
	}); i >= 0 {
		return "", false, fault.New(fault.Invalid, "id %q: %q does not occur in ids (no I, L, O or U)", s, ref[i:i+1])
	}
	if len(ref) < ulid.EncodedSize {
		return ref, false, nil
	}
	if _, err := ulid.ParseStrict(ref); err != nil {
		return "", false, fault.New(fault.Invalid, "id %q: %w", s, err)
	}
	return ref, true, nil
}
