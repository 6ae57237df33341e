package store

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// planColumns has a column for what is asked for; the document is the whole
// plan. The document is read first, so that the columns win: the name in the
// document is the one that the plan was made with.
func planColumns(p *plan.Plan) []column {
	return []column{
		document("doc", p),
		text("id", &p.ID).fix(),
		text("name", &p.Name).fix(),
		link("project", &p.Project),
		text("phase", &p.Phase),
		text("state", &p.State),
		number("attempt", &p.Attempt),
		moment("created", &p.Created),
		moment("updated", &p.Updated),
		number("version", &p.Version),
	}
}

func (t *tx) InsertPlan(p plan.Plan) error {
	what := "plan " + string(p.ID)
	if p.Name != "" {
		what += " (" + p.Name + ")"
	}
	_, err := t.insertNext(what, "plans", "n", "", planColumns(&p))
	return err
}

func (t *tx) UpdatePlan(p *plan.Plan) error {
	what := "plan " + string(p.ID)
	next := *p
	next.Version++
	ok, err := t.update(what, "plans", "id", string(p.ID), planColumns(&next), " AND version = $2", p.Version)
	if err != nil {
		return err
	}
	if !ok {
		now, err := t.Plan(p.ID)
		if err != nil {
			return err
		}
		return fault.New(fault.Conflict, "%s was changed meanwhile: version %d is stored, %d was read", what, now.Version, p.Version).
			WithHint("load it again")
	}
	assign(t, &p.Version, next.Version)
	return nil
}

func (t *tx) Plan(id ident.PlanID) (plan.Plan, error) {
	return one(t, "plan "+string(id), planColumns, "FROM plans WHERE id = $1", string(id))
}

func (t *tx) Plans(f engine.PlanFilter) ([]plan.Plan, error) {
	var where []string
	var args []any
	for _, c := range []struct{ column, value string }{
		{"project", f.Project}, {"phase", string(f.Phase)}, {"state", string(f.State)}, {"name", f.Name},
	} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, c.column+" = "+param(len(args)))
		}
	}
	tail := "FROM plans"
	mark := "EXISTS (SELECT 1 FROM plan_marks m WHERE m.plan_id = plans.id AND m.key = "
	for _, key := range slices.Sorted(maps.Keys(f.Marks)) {
		args = append(args, key, f.Marks[key])
		where = append(where, mark+param(len(args)-1)+" AND m.value = "+param(len(args))+")")
	}
	if f.Without != "" {
		args = append(args, f.Without)
		where = append(where, "NOT "+mark+param(len(args))+")")
	}
	if len(where) > 0 {
		tail += " WHERE " + strings.Join(where, " AND ")
	}
	tail += " ORDER BY n DESC"
	if f.Touched {
		tail = strings.TrimSuffix(tail, "n DESC") + "updated DESC, n DESC"
	}
	if f.Limit > 0 {
		args = append(args, f.Limit)
		tail += " LIMIT " + param(len(args))
	}
	return list(t, "plans", planColumns, tail, args...)
}

var suffixForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{1,26}$`) })

// FindIDs scans the ids of one table: about 17 ms in 100,000, and only a
// person who types asks.
func (t *tx) FindIDs(table, suffix string, limit int) ([]string, error) {
	tables := map[string]string{
		"plan": "plans", "decision": "decisions", "approval": "approvals",
		"checkpoint": "checkpoints", "resource": "resources", "session": "sessions",
	}
	name, ok := tables[table]
	if !ok {
		return nil, fault.New(fault.Invalid, "a %s cannot be found by the end of its id", table)
	}
	if !suffixForm().MatchString(suffix) {
		return nil, fault.New(fault.Invalid, "%q is not the end of an id", suffix)
	}
	return list(t, table, column1("id"), "FROM "+name+" WHERE id LIKE '%' || $1 ORDER BY id LIMIT $2", suffix, max(limit, 0))
}

func eventColumns(e *plan.Event) []column {
	return []column{
		text("plan_id", &e.Plan),
		moment("at", &e.At),
		text("type", &e.Type),
		raw("data", &e.Data),
	}
}

func (t *tx) AppendEvent(e *plan.Event) error {
	seq, err := t.insertNext(fmt.Sprintf("event %s of plan %s", e.Type, e.Plan), "events", "seq", "plan_id", eventColumns(e))
	if err == nil {
		assign(t, &e.Seq, seq)
	}
	return err
}

func (t *tx) Events(id ident.PlanID, after int64, limit int) ([]plan.Event, error) {
	withSeq := func(e *plan.Event) []column { return append(eventColumns(e), number("seq", &e.Seq)) }
	tail, args := "FROM events WHERE plan_id = $1 AND seq > $2 ORDER BY seq", []any{string(id), after}
	if limit > 0 {
		tail, args = tail+" LIMIT $3", append(args, limit)
	}
	return list(t, "events of plan "+string(id), withSeq, tail, args...)
}

func (t *tx) Claim(id ident.PlanID, holder string, at time.Time) error {
	what := "plan " + string(id)
	when, err := moment("at", &at).cell.get()
	if err != nil {
		return err
	}
	n, err := t.exec(what, `INSERT INTO claims (plan_id, holder, at) VALUES ($1, $2, $3)
		ON CONFLICT (plan_id) DO UPDATE SET at = excluded.at WHERE claims.holder = excluded.holder`, string(id), holder, when)
	if err != nil || n == 1 {
		return err
	}
	other, err := t.Holder(id)
	if err != nil {
		return err
	}
	return fault.New(fault.Busy, "%s is being run by %s", what, other).With("holder", other)
}

func (t *tx) Release(id ident.PlanID, holder string) error {
	_, err := t.exec("plan "+string(id), "DELETE FROM claims WHERE plan_id = $1 AND holder = $2", string(id), holder)
	return err
}

func (t *tx) Holder(id ident.PlanID) (string, error) {
	found, err := list(t, "claim of plan "+string(id), column1("holder"), "FROM claims WHERE plan_id = $1", string(id))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}
