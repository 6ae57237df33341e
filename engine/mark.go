package engine

import (
	"context"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// What people call a plan and attach to it lies beside its row, so it can be
// changed whoever runs the plan.

// Rename gives the plan another name.
func (e *Engine) Rename(ctx context.Context, id ident.PlanID, name string) error {
	name, err := ident.Canonical(name)
	if err != nil {
		return err
	}
	err = e.Store.Update(ctx, func(tx Tx) error {
		p, err := tx.Plan(id)
		if err != nil || p.Name == name {
			return err
		}
		if err := tx.RenamePlan(id, name); err != nil {
			return err
		}
		ev := e.event(id, "plan.renamed", fields{"from": p.Name, "to": name})
		return tx.AppendEvent(&ev)
	})
	if fault.Is(err, fault.Exists) {
		return fault.New(fault.Exists, "there is a plan called %s", name).WithHint("choose another name, or rename that one")
	}
	return err
}

var labelKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`) })

// Limits of labels.
const (
	maxLabelValue = 256
	maxLabels     = 64
)

// Label sets the labels of set on the plan and takes those of remove away; one
// that is not there is no error.
func (e *Engine) Label(ctx context.Context, id ident.PlanID, set map[string]string, remove []string) error {
	if err := CheckLabels(set); err != nil {
		return err
	}
	return e.Store.Update(ctx, func(tx Tx) error {
		if _, err := tx.Plan(id); err != nil {
			return err
		}
		for _, key := range remove {
			if err := tx.SetMark(id, MarkLabel+key, ""); err != nil {
				return err
			}
		}
		for key, value := range set {
			if err := tx.SetMark(id, MarkLabel+key, value); err != nil {
				return err
			}
		}
		marks, err := tx.Marks(id)
		if err == nil && len(marks) > maxLabels {
			err = fault.New(fault.Invalid, "a plan has at most %d labels", maxLabels)
		}
		return err
	})
}

// CheckLabels refuses labels that a plan cannot have.
func CheckLabels(set map[string]string) error {
	if len(set) > maxLabels {
		return fault.New(fault.Invalid, "a plan has at most %d labels", maxLabels)
	}
	for key, value := range set {
		switch {
		case !labelKey().MatchString(key):
			return fault.New(fault.Invalid, "%q is no name of a label", key).
				WithHint("1 to 63 letters, digits, dots, dashes, underscores and slashes, a letter or digit at both ends")
		case value == "" || len(value) > maxLabelValue || !utf8.ValidString(value):
			return fault.New(fault.Invalid, "the value of label %s must be a text of 1 to %d bytes", key, maxLabelValue)
		}
	}
	return nil
}

// Archive hides a plan that has ended from lists, or shows it again.
func (e *Engine) Archive(ctx context.Context, id ident.PlanID, hide bool) error {
	return e.Store.Update(ctx, func(tx Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		marks, err := tx.Marks(id)
		switch {
		case err != nil:
			return err
		case !hide && marks[MarkImported] == "":
			return tx.SetMark(id, MarkArchived, "")
		case !hide:
			return fault.New(fault.Conflict, "plan %s is imported history, which stays archived", id)
		case marks[MarkArchived] != "":
			return nil
		case !p.Terminal():
			return fault.New(fault.Conflict, "plan %s is %s: only a plan that has ended can be archived", id, p.Status).
				WithHint("agents plan cancel %s gives it up", id)
		}
		return tx.SetMark(id, MarkArchived, e.Now().UTC().Format(time.RFC3339))
	})
}

// imported is the refusal to carry on, or to control, a plan of another place.
func imported(tx Tx, id ident.PlanID) error {
	marks, err := tx.Marks(id)
	if err != nil || marks[MarkImported] == "" {
		return err
	}
	return fault.New(fault.Conflict, "plan %s is imported history: it cannot be run here", id).
		WithHint("agents plan tree %s shows what was decided", id)
}

// Labels are the labels among the marks of a plan; nil for none.
func Labels(marks map[string]string) map[string]string {
	var out map[string]string
	for key, value := range marks {
		if len(key) > len(MarkLabel) && key[:len(MarkLabel)] == MarkLabel {
			if out == nil {
				out = map[string]string{}
			}
			out[key[len(MarkLabel):]] = value
		}
	}
	return out
}
