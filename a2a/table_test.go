package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

var method = regexp.MustCompile(`^_cleveragents/[a-z]+/[a-z]+(_[a-z]+)*$`)

func TestTableIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range a2a.Table() {
		if !method.MatchString(o.Method) || seen[o.Method] {
			t.Errorf("method %q is not a name of its own", o.Method)
		}
		seen[o.Method] = true
		if o.Role != a2a.Reader && o.Role != a2a.Writer && o.Role != a2a.Admin {
			t.Errorf("%s: role %q", o.Method, o.Role)
		}
		if o.Doc == "" {
			t.Errorf("%s has no description", o.Method)
		}
		for _, typ := range []reflect.Type{o.Request, o.Response} {
			// What goes over a wire later has to survive JSON now.
			v := reflect.New(typ)
			b, err := json.Marshal(v.Interface())
			if err == nil {
				err = json.Unmarshal(b, reflect.New(typ).Interface())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", o.Method, typ, err)
			}
		}
	}
}

// echo is a client over one handler.
type echo struct{ h a2a.Handler }

func (e echo) Do(ctx context.Context, _ string, req any, emit func(plan.Event)) (any, error) {
	return e.h.Do(ctx, req, emit)
}

func TestCallCarriesTypesEventsAndErrors(t *testing.T) {
	op := a2a.Op[a2a.NameQuery, a2a.DBPathView]{Method: "_cleveragents/test/echo"}
	sorry := errors.New("sorry")
	c := echo{a2a.Handle(op, func(_ context.Context, q a2a.NameQuery, emit func(plan.Event)) (a2a.DBPathView, error) {
		emit(plan.Event{Type: q.Name})
		if q.Name == "bad" {
			return a2a.DBPathView{}, sorry
		}
		return a2a.DBPathView{Store: q.Name}, nil
	})}
	var told []string
	r, err := a2a.Call(t.Context(), c, op, a2a.NameQuery{Name: "x"}, func(e plan.Event) { told = append(told, e.Type) })
	if err != nil || r.Store != "x" || len(told) != 1 || told[0] != "x" {
		t.Errorf("Call = %+v, %v, events %v", r, err, told)
	}
	if _, err := a2a.Call(t.Context(), c, op, a2a.NameQuery{Name: "bad"}, nil); !errors.Is(err, sorry) {
		t.Errorf("the handler's error came as %v", err)
	}
	wrong := a2a.Op[a2a.RefQuery, a2a.DBPathView]{Method: op.Method}
	if _, err := a2a.Call(t.Context(), c, wrong, a2a.RefQuery{}, nil); !fault.Is(err, fault.Internal) {
		t.Errorf("a request of another type: %v", err)
	}
	other := a2a.Op[a2a.NameQuery, a2a.DoctorView]{Method: op.Method}
	if _, err := a2a.Call(t.Context(), c, other, a2a.NameQuery{Name: "x"}, nil); !fault.Is(err, fault.Internal) {
		t.Errorf("an answer of another type: %v", err)
	}
}
