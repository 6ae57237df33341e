package storetest

import (
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/resource"
)

func testConfigs(t *testing.T, w *world) {
	acts := []action.Action{filled[action.Action](t, w.f), filled[action.Action](t, w.f), filled[action.Action](t, w.f)}
	actors := []actor.Config{filled[actor.Config](t, w.f), filled[actor.Config](t, w.f), filled[actor.Config](t, w.f)}
	// By bytes: '-' < '/' < '0' < 'a', which a database's own order may not be.
	for i, name := range []string{"l-b/x", "l/b", "lab/x"} {
		acts[i].Name, actors[i].Name = name, name
	}
	w.update(t, func(tx engine.Tx) error {
		for _, i := range []int{2, 0, 1} {
			if err := tx.PutAction(acts[i], false); err != nil {
				return err
			}
			if err := tx.PutActor(actors[i], true); err != nil { // replace of nothing is an insert
				return err
			}
		}
		return nil
	})
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.PutAction(acts[1], false) })
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.PutActor(actors[1], false) })
	name := acts[0].Name
	acts[0], actors[0] = filled[action.Action](t, w.f), filled[actor.Config](t, w.f)
	acts[0].Name, actors[0].Name = name, name
	w.update(t, func(tx engine.Tx) error {
		if err := tx.PutAction(acts[0], true); err != nil {
			return err
		}
		return tx.PutActor(actors[0], true)
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "actions", acts, tx.Actions)
		same(t, "actors", actors, tx.Actors)
		same(t, "action", acts[0], func() (action.Action, error) { return tx.Action(name) })
		same(t, "actor", actors[0], func() (actor.Config, error) { return tx.Actor(name) })
		absent(t, "action", func() (action.Action, error) { return tx.Action("local/none") })
		absent(t, "actor", func() (actor.Config, error) { return tx.Actor("local/none") })
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.RemoveActor("local/none") })
	w.update(t, func(tx engine.Tx) error { return tx.RemoveActor(actors[1].Name) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "actors", []actor.Config{actors[0], actors[2]}, tx.Actors)
		return nil
	})
}

func testProjects(t *testing.T, w *world) {
	first := filled[project.Project](t, w.f)
	first.Name, first.Links = "a/first", nil
	w.update(t, func(tx engine.Tx) error { return tx.InsertProject(first) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "project", w.proj, func() (project.Project, error) { return tx.Project(w.proj.Name) })
		same(t, "projects", []project.Project{first, w.proj}, tx.Projects)
		absent(t, "project", func() (project.Project, error) { return tx.Project("local/none") })

		same(t, "resources", w.res[:], tx.Resources)
		same(t, "resource", w.res[1], func() (resource.Resource, error) { return tx.Resource(w.res[1].ID) })
		same(t, "resource", w.res[1], func() (resource.Resource, error) { return tx.ResourceByName(w.res[1].Name) })
		absent(t, "resource", func() (resource.Resource, error) { return tx.Resource("none") })
		absent(t, "resource", func() (resource.Resource, error) { return tx.ResourceByName("none") })
		return nil
	})

	for name, links := range map[string][]project.Link{
		"none":     {{Resource: "none"}},
		"repeated": {{Resource: w.res[0].ID}, {Resource: w.res[0].ID}},
	} {
		kind := map[string]fault.Kind{"none": fault.NotFound, "repeated": fault.Exists}[name]
		p := first
		p.Name, p.Links = "a/"+name, links
		w.fails(t, kind, func(tx engine.Tx) error { return tx.InsertProject(p) })
		// Nothing of it stays even when the error is swallowed.
		w.fails(t, kind, func(tx engine.Tx) error { tx.InsertProject(p); return nil })
	}
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertProject(w.proj) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateProject(project.Project{Name: "local/none"}) })
	for _, r := range []resource.Resource{
		{ID: w.res[0].ID, Name: "local/other"},
		{ID: ident.ResourceID(w.ids.New()), Name: w.res[0].Name},
	} {
		w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertResource(r) })
	}

	changed := filled[project.Project](t, w.f)
	changed.Name, changed.Links = w.proj.Name, []project.Link{{Resource: w.res[0].ID, ReadOnly: true}}
	w.update(t, func(tx engine.Tx) error { return tx.UpdateProject(changed) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "projects after update", []project.Project{first, changed}, tx.Projects)
		return nil
	})
}

func testSettings(t *testing.T, w *world) {
	w.update(t, func(tx engine.Tx) error {
		absent(t, "setting", func() (string, error) { return tx.Setting("project") })
		return tx.PutSetting("project", "local/a")
	})
	w.update(t, func(tx engine.Tx) error {
		same(t, "setting", "local/a", func() (string, error) { return tx.Setting("project") })
		return tx.PutSetting("project", "")
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "setting", "", func() (string, error) { return tx.Setting("project") })
		absent(t, "setting", func() (string, error) { return tx.Setting("other") })
		return nil
	})
}

func testProviders(t *testing.T, w *world) {
	all := []provider.Config{filled[provider.Config](t, w.f), filled[provider.Config](t, w.f)}
	all[0].Name, all[1].Name = "a", "b"
	w.update(t, func(tx engine.Tx) error {
		if err := tx.PutProvider(all[1], false); err != nil {
			return err
		}
		return tx.PutProvider(all[0], true)
	})
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.PutProvider(all[0], false) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "providers", all, tx.Providers)
		same(t, "provider", all[1], func() (provider.Config, error) { return tx.Provider("b") })
		absent(t, "provider", func() (provider.Config, error) { return tx.Provider("none") })
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.RemoveProvider("none") })
	w.update(t, func(tx engine.Tx) error { return tx.RemoveProvider("a") })
	w.view(t, func(tx engine.Tx) error {
		same(t, "providers", all[1:], tx.Providers)
		return nil
	})
}
