package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/cleveragents/agents/actor"
)

// requestKey is the hash of everything that a request is composed of: of its
// settings and tools, then of its messages in order. A part is told with its
// length, so that no two requests run together into the same text. It takes the
// turns of a conversation as sums that were made before: hashing a long one anew
// at every turn would cost more than the rest of a call.
type requestKey struct{ hash.Hash }

func newRequestKey(req actor.Request) requestKey {
	k := requestKey{sha256.New()}
	k.part(req.Provider, req.Model, fmt.Sprint(req.MaxTokens), fmt.Sprint(req.Temperature != nil))
	if req.Temperature != nil {
		k.part(fmt.Sprint(*req.Temperature))
	}
	k.part(string(req.Output), fmt.Sprint(len(req.Tools)))
	for _, t := range req.Tools {
		k.part(t.Name, t.Description, string(t.Input))
	}
	return k
}

func (k requestKey) part(texts ...string) {
	for _, s := range texts {
		_, _ = fmt.Fprintf(k, "%d:", len(s)) // a hash takes everything
		_, _ = io.WriteString(k, s)
	}
}

func (k requestKey) message(m actor.Message) {
	k.part(string(m.Role), m.Thinking, string(m.Sealed), m.ToolCallID, fmt.Sprint(m.IsError, len(m.Pieces), len(m.ToolCalls)))
	for _, p := range m.Pieces {
		k.part(p.Slot, p.Origin, p.Reason, p.Text)
	}
	for _, t := range m.ToolCalls {
		k.part(t.ID, t.Name, t.Arguments)
	}
}

// sum adds the key of a turn.
func (k requestKey) sum(turn [sha256.Size]byte) {
	_, _ = fmt.Fprintf(k, "turn:%x", turn)
}

// String is the key in hexadecimal.
func (k requestKey) String() string { return hex.EncodeToString(k.Sum(nil)) }
