package plan

import "time"

// ApplyAs is the form in which changes come into a resource.
type ApplyAs string

// The forms. A patch is not one of them: it is written elsewhere, and the plan
// stays to be applied.
const (
	AsFiles  ApplyAs = "files"  // into the work tree
	AsCommit ApplyAs = "commit" // and as a commit on the current branch
	AsBranch ApplyAs = "branch" // as a commit on a new branch, the work tree stays
)

// ApplyOrder is how a person wants a plan applied.
type ApplyOrder struct {
	As      ApplyAs   `json:"as,omitempty"`
	Only    []string  `json:"only,omitempty"`    // paths; none is all
	Branch  string    `json:"branch,omitempty"`  // the new one
	Message string    `json:"message,omitempty"` // of the commit
	When    time.Time `json:"when,omitzero"`
}

// Landed is one Apply that came to its end.
type Landed struct {
	At      time.Time `json:"at"`
	As      ApplyAs   `json:"as"`
	Changes string    `json:"changes"` // blob of the ChangeSet
	Files   int       `json:"files"`
	Left    []string  `json:"left,omitempty"` // where a person's bytes stayed
	Commit  string    `json:"commit,omitempty"`
	Ref     string    `json:"ref,omitempty"`
	Notes   []string  `json:"notes,omitempty"`
}
