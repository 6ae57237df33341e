package store

import (
	"cmp"
	"slices"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/resource"
)

// Lists by name are sorted here: the two databases would sort by different
// rules, and these lists are short.

func actionColumns(a *action.Action) []column {
	return []column{text("name", &a.Name), document("doc", a)}
}

func (t *tx) PutAction(a action.Action, replace bool) error {
	return t.put("action "+a.Name, "actions", actionColumns(&a), replace)
}

func (t *tx) Action(name string) (action.Action, error) {
	return one(t, "action "+name, actionColumns, "FROM actions WHERE name = $1", name)
}

func (t *tx) Actions() ([]action.Action, error) {
	as, err := list(t, "actions", actionColumns, "FROM actions")
	slices.SortFunc(as, func(a, b action.Action) int { return cmp.Compare(a.Name, b.Name) })
	return as, err
}

func providerColumns(c *provider.Config) []column {
	return []column{text("name", &c.Name), document("doc", c)}
}

func (t *tx) PutProvider(c provider.Config, replace bool) error {
	return t.put("provider "+c.Name, "providers", providerColumns(&c), replace)
}

func (t *tx) Provider(name string) (provider.Config, error) {
	return one(t, "provider "+name, providerColumns, "FROM providers WHERE name = $1", name)
}

func (t *tx) Providers() ([]provider.Config, error) {
	cs, err := list(t, "providers", providerColumns, "FROM providers")
	slices.SortFunc(cs, func(a, b provider.Config) int { return cmp.Compare(a.Name, b.Name) })
	return cs, err
}

func (t *tx) RemoveProvider(name string) error {
	what := "provider " + name
	n, err := t.exec(what, "DELETE FROM providers WHERE name = $1", name)
	return changed(what, n == 1, err)
}

func actorColumns(a *actor.Config) []column {
	return []column{text("name", &a.Name), document("doc", a)}
}

func (t *tx) PutActor(a actor.Config, replace bool) error {
	return t.put("actor "+a.Name, "actors", actorColumns(&a), replace)
}

func (t *tx) Actor(name string) (actor.Config, error) {
	return one(t, "actor "+name, actorColumns, "FROM actors WHERE name = $1", name)
}

func (t *tx) Actors() ([]actor.Config, error) {
	as, err := list(t, "actors", actorColumns, "FROM actors")
	slices.SortFunc(as, func(a, b actor.Config) int { return cmp.Compare(a.Name, b.Name) })
	return as, err
}

func (t *tx) RemoveActor(name string) error {
	n, err := t.exec("actor "+name, "DELETE FROM actors WHERE name = $1", name)
	return changed("actor "+name, n > 0, err)
}

// put inserts a row of a key and a value, or replaces the value.
func (t *tx) put(what, table string, cols []column, replace bool) error {
	if !replace {
		return t.insert(what, table, cols)
	}
	args, err := values(cols)
	if err != nil {
		return invalid(what, err)
	}
	key, value := cols[0].name, cols[1].name
	_, err = t.exec(what, "INSERT INTO "+table+" ("+names(cols)+") VALUES ("+params(1, 2)+") ON CONFLICT ("+key+
		") DO UPDATE SET "+value+" = excluded."+value, args...)
	return err
}

func projectColumns(p *project.Project) []column {
	return []column{
		text("name", &p.Name).fix(),
		text("description", &p.Description),
		text("automation_profile", &p.AutomationProfile),
		moment("created", &p.Created),
	}
}

// linkRow is one link with whose it is.
type linkRow struct {
	project string
	pos     int
	project.Link
}

func linkColumns(l *linkRow) []column {
	return []column{
		text("project", &l.project),
		number("pos", &l.pos),
		text("resource_id", &l.Resource),
		flag("read_only", &l.ReadOnly),
	}
}

func (t *tx) InsertProject(p project.Project) error {
	if err := t.insert("project "+p.Name, "projects", projectColumns(&p)); err != nil {
		return err
	}
	return t.insertLinks(p)
}

func (t *tx) UpdateProject(p project.Project) error {
	what := "project " + p.Name
	ok, err := t.update(what, "projects", "name", p.Name, projectColumns(&p), "")
	if err := changed(what, ok, err); err != nil {
		return err
	}
	if _, err := t.exec(what, "DELETE FROM project_links WHERE project = $1", p.Name); err != nil {
		return err
	}
	return t.insertLinks(p)
}

func (t *tx) insertLinks(p project.Project) error {
	for i, l := range p.Links {
		what := "link of project " + p.Name + " to resource " + string(l.Resource)
		if err := t.insert(what, "project_links", linkColumns(&linkRow{p.Name, i, l})); err != nil {
			// The project's row is in already: half of it must not commit.
			return t.spoil(what, err)
		}
	}
	return nil
}

func (t *tx) Project(name string) (project.Project, error) {
	p, err := one(t, "project "+name, projectColumns, "FROM projects WHERE name = $1", name)
	if err != nil {
		return p, err
	}
	links, err := list(t, "project "+name, linkColumns, "FROM project_links WHERE project = $1 ORDER BY pos", name)
	for _, l := range links {
		p.Links = append(p.Links, l.Link)
	}
	return p, err
}

func (t *tx) Projects() ([]project.Project, error) {
	ps, err := list(t, "projects", projectColumns, "FROM projects")
	if err != nil {
		return nil, err
	}
	links, err := list(t, "projects", linkColumns, "FROM project_links ORDER BY project, pos")
	if err != nil {
		return nil, err
	}
	of := map[string][]project.Link{}
	for _, l := range links {
		of[l.project] = append(of[l.project], l.Link)
	}
	for i := range ps {
		ps[i].Links = of[ps[i].Name]
	}
	slices.SortFunc(ps, func(a, b project.Project) int { return cmp.Compare(a.Name, b.Name) })
	return ps, nil
}

func resourceColumns(r *resource.Resource) []column {
	return []column{
		text("id", &r.ID),
		text("name", &r.Name),
		text("type", &r.Type),
		text("location", &r.Location),
		moment("created", &r.Created),
	}
}

func (t *tx) InsertResource(r resource.Resource) error {
	_, err := t.insertNext("resource "+string(r.ID)+" ("+r.Name+")", "resources", "n", "", resourceColumns(&r))
	return err
}

func (t *tx) Resource(id ident.ResourceID) (resource.Resource, error) {
	return one(t, "resource "+string(id), resourceColumns, "FROM resources WHERE id = $1", string(id))
}

func (t *tx) ResourceByName(name string) (resource.Resource, error) {
	return one(t, "resource "+name, resourceColumns, "FROM resources WHERE name = $1", name)
}

func (t *tx) Resources() ([]resource.Resource, error) {
	return list(t, "resources", resourceColumns, "FROM resources ORDER BY n")
}

func (t *tx) PutSetting(key, value string) error {
	return t.put("setting "+key, "settings", []column{text("key", &key), text("value", &value)}, true)
}

func (t *tx) Setting(key string) (string, error) {
	return one(t, "setting "+key, column1("value"), "FROM settings WHERE key = $1", key)
}
