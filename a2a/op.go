// Package a2a is the one list of what can be asked of the program. Every door
// (command line, terminal and web interfaces, remote clients) does exactly what
// the table holds, through a Client; where the answer comes from — this process
// or a server — a door cannot tell.
//
// Method names are those of the Agent-to-Agent protocol's extension methods,
// _cleveragents/<noun>/<verb>.
package a2a

import (
	"context"
	"reflect"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// Role is what a caller must be to use an operation.
type Role string

// The roles, each including the ones before.
const (
	Reader Role = "read"
	Writer Role = "write"
	Admin  Role = "admin"
)

// Op is one operation: its name and the types that go in and come out.
type Op[Q, R any] struct {
	Method  string
	Role    Role
	Streams bool // sends events before its answer
	Doc     string
}

// Info is an operation without its type parameters, as a row of the table.
type Info struct {
	Method   string
	Role     Role
	Streams  bool
	Doc      string
	Request  reflect.Type
	Response reflect.Type
}

func (o Op[Q, R]) info() Info {
	return Info{o.Method, o.Role, o.Streams, o.Doc, reflect.TypeFor[Q](), reflect.TypeFor[R]()}
}

// Client carries a request to whoever answers. Req and the answer have the
// types of the operation's row. Emit, which may be nil, receives the events of
// a streaming operation in order, before Do returns.
type Client interface {
	Do(ctx context.Context, method string, req any, emit func(plan.Event)) (any, error)
}

// Call does one operation.
func Call[Q, R any](ctx context.Context, c Client, o Op[Q, R], q Q, emit func(plan.Event)) (R, error) {
	var zero R
	got, err := c.Do(ctx, o.Method, q, emit)
	if err != nil {
		return zero, err
	}
	r, ok := got.(R)
	if !ok {
		return zero, fault.New(fault.Internal, "%s answered %T, not %T", o.Method, got, zero)
	}
	return r, nil
}

// Handler answers one operation.
type Handler struct {
	Info Info
	do   func(ctx context.Context, req any, emit func(plan.Event)) (any, error)
}

// Handle binds an operation to the function that answers it.
func Handle[Q, R any](o Op[Q, R], f func(ctx context.Context, q Q, emit func(plan.Event)) (R, error)) Handler {
	return Handler{o.info(), func(ctx context.Context, req any, emit func(plan.Event)) (any, error) {
		q, ok := req.(Q)
		if !ok {
			return nil, fault.New(fault.Internal, "%s takes %T, got %T", o.Method, q, req)
		}
		return f(ctx, q, emit)
	}}
}

// Do answers a request; a nil emit is replaced by one that drops events.
func (h Handler) Do(ctx context.Context, req any, emit func(plan.Event)) (any, error) {
	if emit == nil {
		emit = func(plan.Event) {}
	}
	return h.do(ctx, req, emit)
}
