package store

import (
	"github.com/cleveragents/agents/ident"
)

// mark is one row of plan_marks.
type mark struct{ key, value string }

func (t *tx) RenamePlan(id ident.PlanID, name string) error {
	n, err := t.exec("plan "+string(id)+" ("+name+")", "UPDATE plans SET name = $2 WHERE id = $1", string(id), name)
	return changed("plan "+string(id), n == 1, err)
}

func (t *tx) SetMark(id ident.PlanID, key, value string) error {
	what := "mark " + key + " of plan " + string(id)
	if value == "" {
		_, err := t.exec(what, "DELETE FROM plan_marks WHERE plan_id = $1 AND key = $2", string(id), key)
		return err
	}
	_, err := t.exec(what, `INSERT INTO plan_marks (plan_id, key, value) VALUES ($1, $2, $3)
		ON CONFLICT (plan_id, key) DO UPDATE SET value = excluded.value`, string(id), key, value)
	return err
}

func (t *tx) Marks(id ident.PlanID) (map[string]string, error) {
	of := func(m *mark) []column { return []column{text("key", &m.key), text("value", &m.value)} }
	all, err := list(t, "marks of plan "+string(id), of, "FROM plan_marks WHERE plan_id = $1 ORDER BY key", string(id))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, m := range all {
		out[m.key] = m.value
	}
	return out, nil
}
