package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) configHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ConfigGet(), f.configGet),
		a2a.Handle(a2a.ConfigList(), f.configList),
		a2a.Handle(a2a.ConfigSet(), f.configSet),
		a2a.Handle(a2a.ConfigUnset(), f.configUnset),
		a2a.Handle(a2a.ConfigExplain(), f.configExplain),
		a2a.Handle(a2a.ConfigEdit(), f.configEdit),
		a2a.Handle(a2a.ConfigPath(), f.configPath),
		a2a.Handle(a2a.ConfigValidate(), f.configValidate),
	}
}

func (f *Facade) configGet(ctx context.Context, q a2a.ConfigQuery, _ func(plan.Event)) (a2a.ConfigValue, error) {
	if _, ok := config.Find(q.Key); !ok {
		return a2a.ConfigValue{}, config.Unknown(q.Key)
	}
	s, _, err := f.settingsHere(ctx, q.Project, q.Said)
	if err != nil {
		return a2a.ConfigValue{}, err
	}
	return valueOf(s.Entry(q.Key)), nil
}

// settingsHere is what counts for the project that is named, or the one here.
func (f *Facade) settingsHere(ctx context.Context, ref string, said []a2a.ConfigSaid) (s config.Settings, project string, err error) {
	if f.Configuration == nil {
		return s, "", fault.New(fault.NotImplemented, "there is no configuration here")
	}
	if project, err = f.projectFor(ctx, ref); err != nil {
		return s, "", err
	}
	s, err = f.settings(ctx, project, said...)
	return s, project, err
}

func valueOf(e config.Entry) a2a.ConfigValue {
	return a2a.ConfigValue{Key: e.Key, Value: e.Value, Origin: a2a.ConfigOrigin{
		Layer: e.Origin.Layer.String(), File: e.Origin.File, Line: e.Origin.Line, Name: e.Origin.Name, Text: e.Origin.String(),
	}}
}

func (f *Facade) configList(ctx context.Context, q a2a.ConfigListQuery, _ func(plan.Event)) (a2a.ConfigListView, error) {
	v := a2a.ConfigListView{Values: []a2a.ConfigValue{}}
	s, project, err := f.settingsHere(ctx, q.Project, q.Said)
	if err != nil {
		return v, err
	}
	v.Project = project
	for _, k := range config.Keys() {
		if e := s.Entry(k.Name); q.All || e.Origin.Layer != config.Default {
			v.Values = append(v.Values, valueOf(e))
		}
	}
	return v, nil
}

func (f *Facade) configSet(ctx context.Context, q a2a.ConfigSetRequest, _ func(plan.Event)) (a2a.ConfigChange, error) {
	if q.Key == config.CurrentProject && q.Project == "" {
		return f.setCurrent(ctx, q.Value)
	}
	var kept string
	v, err := f.change(ctx, q, func(name string, layer config.Layer, old []byte) (out []byte, err error) {
		out, kept, err = config.Set(name, old, layer, q.Key, q.Value)
		return out, err
	})
	v.Value = kept
	return v, err
}

// setCurrent is what agents project use does: the current project is kept with
// the data that holds it.
func (f *Facade) setCurrent(ctx context.Context, name string) (a2a.ConfigChange, error) {
	k, _ := config.Find(config.CurrentProject)
	if _, err := k.Check(name); err != nil {
		return a2a.ConfigChange{}, err
	}
	p, err := f.projectUse(ctx, a2a.NameQuery{Name: name}, nil)
	if err != nil {
		return a2a.ConfigChange{}, err
	}
	v := a2a.ConfigChange{Key: k.Name, Value: p.Project.Name, Where: f.Paths.Store, Changed: true}
	f.countsNow(ctx, "", &v)
	return v, nil
}

func (f *Facade) configUnset(ctx context.Context, q a2a.ConfigSetRequest, _ func(plan.Event)) (a2a.ConfigChange, error) {
	if q.Key == config.CurrentProject && q.Project == "" {
		v := a2a.ConfigChange{Key: q.Key, Where: f.Paths.Store}
		err := f.update(ctx, func(tx engine.Tx) error {
			old, err := tx.Setting(currentKey)
			if fault.Is(err, fault.NotFound) {
				err = nil
			}
			if v.Changed = old != ""; err != nil || !v.Changed {
				return err
			}
			return tx.PutSetting(currentKey, "")
		})
		if err != nil {
			return v, err
		}
		f.countsNow(ctx, "", &v)
		return v, nil
	}
	return f.change(ctx, q, func(name string, layer config.Layer, old []byte) ([]byte, error) {
		out, _, err := config.Unset(name, old, layer, q.Key)
		return out, err
	})
}

// change edits the text of the person or of a project, and tells what counts
// then.
func (f *Facade) change(ctx context.Context, q a2a.ConfigSetRequest, edit func(name string, layer config.Layer, old []byte) ([]byte, error)) (a2a.ConfigChange, error) {
	v := a2a.ConfigChange{Key: q.Key}
	err := f.rewrite(ctx, q.Project, &v.Where, func(layer config.Layer, old []byte) ([]byte, error) {
		out, err := edit(v.Where, layer, old)
		v.Changed = string(out) != string(old)
		return out, err
	})
	if err != nil {
		return v, err
	}
	f.countsNow(ctx, q.Project, &v)
	return v, nil
}

// countsNow tells what counts after a change. The change is made, so what is
// wrong elsewhere is no error of it.
func (f *Facade) countsNow(ctx context.Context, project string, v *a2a.ConfigChange) {
	s, _, err := f.settingsHere(ctx, project, nil)
	if err != nil {
		v.Problem = fault.As(err).Msg
	}
	v.Now = valueOf(s.Entry(v.Key))
}

// rewrite replaces the text of the person's file, or of a project's settings, by
// what edit makes of it, and says where that is before it calls edit.
func (f *Facade) rewrite(ctx context.Context, ref string, where *string, edit func(layer config.Layer, old []byte) ([]byte, error)) error {
	if f.Configuration == nil {
		return fault.New(fault.NotImplemented, "there is no configuration here")
	}
	if ref == "" {
		*where = f.Configuration.Path()
		return f.Configuration.Update(ctx, func(old []byte) ([]byte, error) { return edit(config.User, old) })
	}
	name, err := f.projectName(ctx, ref)
	if err != nil {
		return err
	}
	*where = projectPlace(name)
	return f.update(ctx, func(tx engine.Tx) error {
		old, err := projectText(tx, name)
		if err != nil {
			return err
		}
		text, err := edit(config.Project, []byte(old))
		if err != nil || string(text) == old {
			return err
		}
		return putProjectText(tx, name, text)
	})
}

func (f *Facade) configExplain(ctx context.Context, q a2a.ConfigQuery, _ func(plan.Event)) (a2a.ConfigKeyView, error) {
	k, ok := config.Find(q.Key)
	if !ok {
		return a2a.ConfigKeyView{}, config.Unknown(q.Key)
	}
	s, _, err := f.settingsHere(ctx, q.Project, q.Said)
	if err != nil {
		return a2a.ConfigKeyView{}, err
	}
	v := a2a.ConfigKeyView{
		Key: k.Name, Doc: k.Doc, Type: k.Type.String(), Takes: k.Wants(), Default: k.Default, Instead: k.Instead,
		Layers: []string{}, Vars: []string{config.EnvName(k.Name)}, Said: []a2a.ConfigValue{valueOf(config.Entry{Key: k.Name, Value: k.Default})},
	}
	for _, l := range k.Layers {
		v.Layers = append(v.Layers, l.String())
	}
	if k.Env != "" {
		v.Vars = append([]string{k.Env}, v.Vars...)
	}
	if k.Flag != "" {
		v.Flag = "--" + k.Flag
	}
	for _, e := range s.All(k.Name) {
		v.Said = append([]a2a.ConfigValue{valueOf(e)}, v.Said...)
	}
	return v, nil
}

func (f *Facade) configEdit(ctx context.Context, q a2a.ConfigEditRequest, _ func(plan.Event)) (a2a.ConfigTextView, error) {
	var v a2a.ConfigTextView
	err := f.rewrite(ctx, q.Project, &v.Where, func(layer config.Layer, old []byte) ([]byte, error) {
		v.Text = string(old)
		if q.Text != nil {
			if evidence.Hash(old) != q.Expect {
				return nil, fault.New(fault.Conflict, "%s was changed meanwhile", v.Where).WithHint("look at it again: agents config edit")
			}
			if _, err := config.Parse(v.Where, []byte(*q.Text), layer); err != nil {
				return nil, err
			}
			v.Text, v.Changed = *q.Text, *q.Text != string(old)
		}
		v.Hash = evidence.Hash([]byte(v.Text))
		return []byte(v.Text), nil
	})
	return v, err
}

func (f *Facade) configPath(context.Context, a2a.Nothing, func(plan.Event)) (a2a.ConfigPathView, error) {
	if f.Configuration == nil {
		return a2a.ConfigPathView{}, fault.New(fault.NotImplemented, "there is no configuration here")
	}
	text, err := f.Configuration.Read()
	return a2a.ConfigPathView{Path: f.Configuration.Path(), Exists: text != nil}, err
}

func (f *Facade) configValidate(ctx context.Context, q a2a.ConfigQuery, _ func(plan.Event)) (a2a.ConfigCheckView, error) {
	v := a2a.ConfigCheckView{Looked: []string{}, Problems: []a2a.ConfigProblem{}}
	if f.Configuration == nil {
		return v, fault.New(fault.NotImplemented, "there is no configuration here")
	}
	project, err := f.projectFor(ctx, q.Project)
	if err != nil {
		return v, err
	}
	all, err := f.sources(ctx, project)
	if err != nil {
		return v, err
	}
	v.Looked = append(lookedAt(all), "environment")
	var errs []error
	for _, s := range all {
		errs = append(errs, config.Problems(s.name, s.text, s.layer)...)
	}
	_, env := config.FromEnv(f.Configuration.Getenv, f.Configuration.Vars(config.EnvPrefix))
	errs = append(errs, env...)
	if len(errs) == 0 { // what each says is right; do they agree?
		if _, err := f.settings(ctx, project); err != nil {
			errs = append(errs, err)
		}
	}
	for _, err := range errs {
		e := fault.As(err)
		v.Problems = append(v.Problems, a2a.ConfigProblem{Message: e.Msg, Hint: e.Hint})
	}
	return v, nil
}
