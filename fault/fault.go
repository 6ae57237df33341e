// Package fault is the one list of error kinds and of what each kind means
// outside the program: the exit code of the command line, the JSON-RPC code
// and the HTTP status of the protocol.
//
// A kind decides what happens next; the text is for the person who reads it.
// An error is made where the fact is known (New), gets a trail by wrapping
// with %w on the way up, and is handled once, at a door. Package fault does
// not log, print or exit.
package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// Kind is what went wrong, as far as a caller can act on it. The order is
// part of the stored format of events: add at the end, never reorder.
type Kind int

// The kinds. What each returns at a door is in Table.
const (
	Internal         Kind = iota // a defect of ours
	Invalid                      // the input is refused
	NotFound                     // the named thing does not exist
	Waiting                      // a person has to act first
	ValidationFailed             // a required validation did not pass
	Blocked                      // a guard or policy forbids it
	Exhausted                    // a budget or limit is used up
	Conflict                     // the world moved: merge, version, cycle
	Exists                       // the name is taken
	Busy                         // somebody else holds it right now
	Unavailable                  // a part that is needed cannot be reached
	Cancelled                    // a person or a caller gave up
	Denied                       // not authenticated or not authorised
	NotImplemented               // deliberately absent
	Corrupt                      // stored bytes are not what was stored
	Timeout                      // the caller's time ran out
	Interrupted                  // stopped by a signal
)

// Meaning is what one kind is called and returns at each door.
type Meaning struct {
	Name string // stable code in JSON output, such as "NotFound"
	Exit int    // process exit status ("agents help exit-codes")
	RPC  int    // JSON-RPC 2.0 error code
	HTTP int    // HTTP status
}

// Table returns the meaning of every kind, indexed by kind.
func Table() []Meaning {
	return []Meaning{
		Internal:         {"Internal", 1, -32603, 500},
		Invalid:          {"Invalid", 2, -32602, 400},
		NotFound:         {"NotFound", 3, -32001, 404},
		Waiting:          {"Waiting", 4, -32010, 409},
		ValidationFailed: {"ValidationFailed", 5, -32011, 422},
		Blocked:          {"Blocked", 6, -32012, 403},
		Exhausted:        {"Exhausted", 6, -32013, 429},
		Conflict:         {"Conflict", 7, -32014, 409},
		Exists:           {"Exists", 7, -32015, 409},
		Busy:             {"Busy", 7, -32016, 409},
		Unavailable:      {"Unavailable", 8, -32017, 503},
		Cancelled:        {"Cancelled", 9, -32018, 499},
		Denied:           {"Denied", 10, -32019, 401},
		NotImplemented:   {"NotImplemented", 11, -32601, 501},
		Corrupt:          {"Corrupt", 1, -32020, 500},
		Timeout:          {"Timeout", 124, -32021, 504},
		Interrupted:      {"Interrupted", 130, -32022, 499},
	}
}

// Meaning returns the row of k; an unknown kind reads as Internal.
func (k Kind) Meaning() Meaning {
	t := Table()
	if k < 0 || int(k) >= len(t) {
		return t[Internal]
	}
	return t[k]
}

// String returns the stable name of k.
func (k Kind) String() string { return k.Meaning().Name }

// Error is one fault: its kind, what happened, where, and how to go on.
type Error struct {
	Kind    Kind
	Code    string         // domain code when finer than the kind, such as "CycleDetected"; "" means the kind's name
	Msg     string         // lower case, no trailing point
	Hint    string         // the next thing a person can do, often a command
	Details map[string]any // facts for programs, shown in JSON output
	Err     error          // the cause, or nil
}

// New makes an error of the kind. The format may use %w for causes; the hint of
// a fault among them is kept, since the way out is still the same.
func New(k Kind, format string, args ...any) *Error {
	e := fmt.Errorf(format, args...)
	out := &Error{Kind: k, Msg: e.Error(), Err: errors.Unwrap(e)}
	if _, many := e.(interface{ Unwrap() []error }); many {
		out.Err = e
	}
	var cause *Error
	if errors.As(out.Err, &cause) {
		out.Hint = cause.Hint
	}
	return out
}

// Error returns the message; the cause is already in it when New wrapped one.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns a copy of e that tells how to go on.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithCode returns a copy of e with a finer domain code.
func (e *Error) WithCode(code string) *Error {
	c := *e
	c.Code = code
	return &c
}

// With returns a copy of e with one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = maps.Clone(e.Details)
	if c.Details == nil {
		c.Details = map[string]any{}
	}
	c.Details[key] = value
	return &c
}

// As returns the outermost *Error in err's chain. A context error without one
// becomes Cancelled or Timeout; anything else becomes Internal. It returns nil
// for a nil err. The message is always err's whole trail.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		if e.Msg == err.Error() {
			return e
		}
		c := *e
		c.Msg = err.Error()
		return &c
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Timeout, Msg: err.Error(), Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Kind: Cancelled, Msg: err.Error(), Err: err}
	}
	return &Error{Kind: Internal, Msg: err.Error(), Err: err}
}

// KindOf returns the kind of err as As finds it; Internal for a plain error.
// It must not be called with nil.
func KindOf(err error) Kind { return As(err).Kind }

// Is reports whether err is a fault of kind k. A nil err is of no kind.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }

// CodeOf returns the domain code of err for JSON output; "" for a nil err.
func CodeOf(err error) string {
	e := As(err)
	if e == nil {
		return ""
	}
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.String()
}

// Exit returns the exit status for err: 0 for nil.
func Exit(err error) int {
	if err == nil {
		return 0
	}
	return KindOf(err).Meaning().Exit
}
