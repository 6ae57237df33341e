package llm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/fault"
)

// maxCalls is the most tool calls of one answer.
const maxCalls = 2000

func tooManyCalls() error {
	return fault.New(fault.Exhausted, "the model makes more than %d tool calls at once", maxCalls)
}

// checkEvent checks that data is one JSON value without a second member of a
// name, and that no index in it is past the calls that are taken, however its
// name is written.
func checkEvent(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true)) // a character may come in two halves
	for depth, first := 0, true; first || depth > 0; first = false {
		t, err := d.ReadToken()
		if err != nil {
			return fault.New(fault.Unavailable, "an event is not valid: %w", err)
		}
		switch t.Kind() {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			kind, n := d.StackIndex(d.StackDepth())
			if kind != '{' || n%2 == 0 || !strings.EqualFold(t.String(), "index") {
				continue
			}
			if k := d.PeekKind(); k != '0' && k != '"' {
				continue
			}
			v, err := d.ReadValue()
			if err != nil {
				return fault.New(fault.Unavailable, "an event is not valid: %w", err)
			}
			i, err := strconv.Atoi(string(v))
			if err != nil || i < 0 {
				return fault.New(fault.Unavailable, "an event has the index %.20s", v)
			}
			if i >= maxCalls {
				return tooManyCalls()
			}
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Unavailable, "an event is more than one JSON value")
	}
	return nil
}

// uniqueIDs counts how often each id was given out.
type uniqueIDs struct{ taken map[string]int }

// of returns id, or one made from it when it is empty or taken.
func (u uniqueIDs) of(id string, i int) string {
	if id == "" {
		id = fmt.Sprintf("call-%d", i)
	}
	out := id
	for u.taken[out] > 0 {
		u.taken[id]++
		out = fmt.Sprintf("%s-%d", id, u.taken[id])
	}
	u.taken[out]++
	return out
}
