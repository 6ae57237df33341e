package llm

import (
	"bytes"
	"errors"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// minHidden is the length of the shortest key that is looked for in what comes
// back: a shorter one would be found in any text.
const minHidden = 8

// hide takes the key out of a fault: a provider, or a proxy before it, may
// repeat what it refuses.
func hide(err error, key string) error {
	var f *fault.Error
	if len(key) < minHidden || !errors.As(err, &f) {
		return err
	}
	c := *f
	c.Msg, c.Hint = strings.ReplaceAll(f.Msg, key, "[key]"), strings.ReplaceAll(f.Hint, key, "[key]")
	if c.Msg != f.Msg || c.Hint != f.Hint {
		c.Err = nil // it says the same again
	}
	return &c
}

// hideIn takes the key out of what is kept of an answer. The length stays.
func hideIn(record []byte, key string) []byte {
	if len(key) < minHidden || !bytes.Contains(record, []byte(key)) {
		return record
	}
	return bytes.ReplaceAll(record, []byte(key), bytes.Repeat([]byte("*"), len(key)))
}
