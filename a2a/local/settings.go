package local

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/resource"
)

// Configuration is where the facade finds what a person has set.
type Configuration interface {
	Path() string
	Read() ([]byte, error) // the person's file; nil for none
	// Update replaces the person's file by what edit makes of it.
	Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error
	Getenv(name string) string
	Vars(prefix string) map[string]string
	// Tree reads the file that came with the project in a directory; nil text
	// for none.
	Tree(dir string) (text []byte, path string, err error)
}

// source is one text that says something.
type source struct {
	name  string
	layer config.Layer
	text  []byte
}

// sources are all texts that count for a project, weakest first; without one
// only the person's own.
func (f *Facade) sources(ctx context.Context, project string) ([]source, error) {
	mine, err := f.Configuration.Read()
	if err != nil {
		return nil, err
	}
	all := []source{{f.Configuration.Path(), config.User, mine}}
	if project == "" {
		return all, nil
	}
	var set string
	var linked []resource.Resource
	err = f.view(ctx, func(tx engine.Tx) (err error) {
		p, err := tx.Project(project)
		if err != nil {
			return err
		}
		for _, l := range p.Links {
			r, err := tx.Resource(l.Resource)
			if err != nil {
				return err
			}
			linked = append(linked, r)
		}
		set, err = projectText(tx, project)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range linked {
		text, path, err := f.Configuration.Tree(r.Location)
		if err != nil {
			return nil, err
		}
		if text != nil {
			all = append(all, source{path, config.Tree, text})
		}
	}
	return append(all, source{projectPlace(project), config.Project, []byte(set)}), nil
}

// settings is what counts for a project, or without one.
func (f *Facade) settings(ctx context.Context, project string, said ...a2a.ConfigSaid) (config.Settings, error) {
	var s config.Settings
	if f.Configuration == nil {
		return s, nil
	}
	all, err := f.sources(ctx, project)
	if err != nil {
		return s, err
	}
	var trees [][]config.Entry
	for _, src := range all {
		entries, err := config.Parse(src.name, src.text, src.layer)
		if err != nil {
			return s, err
		}
		if src.layer == config.Tree {
			trees = append(trees, entries)
			continue
		}
		for i := range entries {
			if src.layer == config.Project {
				entries[i].Origin = config.Origin{Layer: config.Project, Name: project}
			}
		}
		s = s.Over(entries...)
	}
	if s, err = s.Narrow(trees...); err != nil {
		return s, err
	}
	env, errs := config.FromEnv(f.Configuration.Getenv, f.Configuration.Vars(config.EnvPrefix))
	if len(errs) > 0 {
		return s, errs[0]
	}
	if s, err = f.current(ctx, s.Over(env...)); err != nil {
		return s, err
	}
	for _, x := range said {
		k, ok := config.Find(x.Key)
		if !ok {
			return s, config.Unknown(x.Key)
		}
		value, err := k.Check(x.Value)
		if err != nil {
			return s, fault.New(fault.Invalid, "%s: %w", x.From, err)
		}
		s = s.Over(config.Entry{Key: x.Key, Value: value, Origin: config.Origin{Layer: config.Flag, Name: x.From}})
	}
	return s, nil
}

// current adds the project that was made the current one.
func (f *Facade) current(ctx context.Context, s config.Settings) (config.Settings, error) {
	err := f.view(ctx, func(tx engine.Tx) error {
		name, err := tx.Setting(currentKey)
		if fault.Is(err, fault.NotFound) || err == nil && name == "" {
			return nil
		}
		if err == nil {
			s = s.Over(config.Entry{Key: config.CurrentProject, Value: name, Origin: config.Origin{Layer: config.Data, Name: "agents project use"}})
		}
		return err
	})
	return s, err
}

// forPlans is what the configuration says about a new plan of the project. A
// project's own profile is not in it: the engine reads that from the project.
func (f *Facade) forPlans(ctx context.Context, project string) (engine.Settings, error) {
	s, err := f.settings(ctx, project)
	if err != nil {
		return engine.Settings{}, err
	}
	out := engine.Settings{Profile: s.Of(config.User, config.Profile)}
	out.Network = s.Network(config.Network)
	if usd, limited := s.Limit(config.MaxCost); limited {
		out.MaxCost = &usd
	}
	if _, limited := s.Limit(config.MaxToolCalls); limited {
		n := s.Whole(config.MaxToolCalls)
		out.MaxToolCalls = &n
	}
	return out, nil
}

// projectPlace names what is set for a project in messages.
func projectPlace(project string) string { return "project " + project }

// projectKey is the setting that keeps the text of a project's configuration.
func projectKey(project string) string { return "config/" + project }

// projectText is what is set for a project, as TOML. The profile is kept with
// the project, and what is there counts.
func projectText(tx engine.Tx, name string) (string, error) {
	text, err := tx.Setting(projectKey(name))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	p, err := tx.Project(name)
	if err != nil {
		return "", err
	}
	entries, err := config.Parse(projectPlace(name), []byte(text), config.Project)
	if err != nil {
		return text, nil // whoever reads it is told
	}
	if p.AutomationProfile == (config.Settings{}).Over(entries...).Of(config.Project, config.Profile) {
		return text, nil
	}
	out := []byte(text)
	if p.AutomationProfile == "" {
		out, _, err = config.Unset(projectPlace(name), out, config.Project, config.Profile)
	} else {
		out, _, err = config.Set(projectPlace(name), out, config.Project, config.Profile, p.AutomationProfile)
	}
	return string(out), err
}

// putProjectText keeps the text, and the profile that it names in the project.
func putProjectText(tx engine.Tx, name string, text []byte) error {
	entries, err := config.Parse(projectPlace(name), text, config.Project)
	if err != nil {
		return err
	}
	p, err := tx.Project(name)
	if err != nil {
		return err
	}
	p.AutomationProfile = (config.Settings{}).Over(entries...).Of(config.Project, config.Profile)
	if err := tx.UpdateProject(p); err != nil {
		return err
	}
	return tx.PutSetting(projectKey(name), string(text))
}

// projectFor is the project whose settings count: the one that is named, else
// the one here, else none.
func (f *Facade) projectFor(ctx context.Context, ref string) (string, error) {
	if ref != "" {
		return f.projectName(ctx, ref)
	}
	var name string
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		if name, err = f.projectHere(tx); err != nil || name == "" {
			return err
		}
		if _, gone := tx.Project(name); fault.Is(gone, fault.NotFound) {
			name = ""
		}
		return nil
	})
	return name, err
}

// lookedAt are the places of the sources that have a text.
func lookedAt(all []source) []string {
	var out []string
	for _, s := range all {
		if len(s.text) > 0 && !slices.Contains(out, s.name) {
			out = append(out, filepath.ToSlash(s.name))
		}
	}
	return out
}
