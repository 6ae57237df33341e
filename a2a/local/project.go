package local

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
)

func (f *Facade) projectHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ProjectInit(), f.projectInit),
		a2a.Handle(a2a.ProjectCreate(), f.projectCreate),
		a2a.Handle(a2a.ProjectList(), f.projectList),
		a2a.Handle(a2a.ProjectShow(), f.projectShow),
		a2a.Handle(a2a.ProjectUse(), f.projectUse),
		a2a.Handle(a2a.ProjectLinkResource(), f.projectLinkResource),
	}
}

// currentKey is the setting that names the current project.
const currentKey = "core.project"

// projectInit makes a directory a project and the project the current one.
// Doing it again changes nothing and answers the project that is there.
func (f *Facade) projectInit(ctx context.Context, q a2a.ProjectInitRequest, _ func(plan.Event)) (a2a.ProjectView, error) {
	name, err := f.ensureProject(ctx, q)
	if err != nil {
		return a2a.ProjectView{}, err
	}
	if err := f.update(ctx, func(tx engine.Tx) error { return tx.PutSetting(currentKey, name) }); err != nil {
		return a2a.ProjectView{}, err
	}
	return f.projectView(ctx, name)
}

// ensureProject returns the name of the directory's project, which is made when
// there is none.
func (f *Facade) ensureProject(ctx context.Context, q a2a.ProjectInitRequest) (string, error) {
	dir, err := f.realDir(q.Dir, q.Force)
	if err != nil {
		return "", err
	}
	kind, err := detect(dir, q.Type)
	if err != nil {
		return "", err
	}
	name := q.Name
	if name == "" {
		name = nameFrom(filepath.Base(dir))
	}
	if name, err = ident.Canonical(name); err != nil {
		return "", err
	}
	err = f.update(ctx, func(tx engine.Tx) error {
		if q.Name == "" {
			if found, ok, err := projectAt(tx, dir); err != nil || ok {
				name = found.Name
				return err
			}
		}
		res, err := f.resourceAt(tx, dir, kind, name)
		if err != nil {
			return err
		}
		free, err := freeName(tx, name, q.Name != "")
		if err != nil {
			return err
		}
		name = free
		return tx.InsertProject(project.Project{
			Name: name, Links: []project.Link{{Resource: res.ID}}, Created: f.Engine.Now(),
		})
	})
	return name, err
}

// detect returns the resource type of a directory.
func detect(dir, asked string) (string, error) {
	if asked != "" {
		t, err := resource.FindType(asked)
		return t.Name, err
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return resource.GitCheckout, nil
	}
	return resource.FSDirectory, nil
}

var notName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9._-]+`) })

// nameFrom makes a name of a directory's.
func nameFrom(base string) string {
	s := strings.Trim(notName().ReplaceAllString(strings.ToLower(base), "-"), "-._")
	if len(s) > 60 {
		s = strings.TrimRight(s[:60], "-._")
	}
	if s == "" {
		return "project"
	}
	return s
}

// freeName returns the name, with a number where it is taken and was not asked
// for.
func freeName(tx engine.Tx, name string, asked bool) (string, error) {
	for try := name; ; {
		_, err := tx.Project(try)
		if fault.Is(err, fault.NotFound) {
			return try, nil
		}
		if err != nil {
			return "", err
		}
		if asked {
			return "", fault.New(fault.Exists, "project %s exists", name).WithHint("agents project link-resource %s …", name)
		}
		try = bump(try)
	}
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)-(\d+)$`) })

func bump(s string) string {
	if m := numbered().FindStringSubmatch(s); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			return m[1] + "-" + strconv.Itoa(n+1)
		}
	}
	return s + "-2"
}

// projectAt finds the project whose only resource is that directory.
func projectAt(tx engine.Tx, dir string) (project.Project, bool, error) {
	all, err := tx.Projects()
	if err != nil {
		return project.Project{}, false, err
	}
	for _, p := range all {
		if len(p.Links) != 1 {
			continue
		}
		r, err := tx.Resource(p.Links[0].Resource)
		if err != nil {
			return project.Project{}, false, err
		}
		if r.Location == dir {
			return p, true, nil
		}
	}
	return project.Project{}, false, nil
}

// resourceAt returns the resource at a directory, registered when it was not.
func (f *Facade) resourceAt(tx engine.Tx, dir, kind, name string) (resource.Resource, error) {
	all, err := tx.Resources()
	if err != nil {
		return resource.Resource{}, err
	}
	taken := map[string]bool{}
	for _, r := range all {
		if r.Location == dir && r.Type == kind {
			return r, nil
		}
		taken[r.Name] = true
	}
	for taken[name] {
		name = bump(name)
	}
	r := resource.Resource{
		ID: ident.ResourceID(f.Engine.IDs.New()), Name: name, Type: kind, Location: dir, Created: f.Engine.Now(),
	}
	return r, tx.InsertResource(r)
}

func (f *Facade) projectCreate(ctx context.Context, q a2a.ProjectCreateRequest, _ func(plan.Event)) (a2a.ProjectView, error) {
	name, err := ident.Canonical(q.Name)
	if err != nil {
		return a2a.ProjectView{}, err
	}
	err = f.update(ctx, func(tx engine.Tx) error {
		if _, err := freeName(tx, name, true); err != nil {
			return err
		}
		return tx.InsertProject(project.Project{Name: name, Description: q.Description, Links: []project.Link{}, Created: f.Engine.Now()})
	})
	if err != nil {
		return a2a.ProjectView{}, err
	}
	return f.projectView(ctx, name)
}

func (f *Facade) projectList(ctx context.Context, _ a2a.Nothing, _ func(plan.Event)) (a2a.ProjectsView, error) {
	out := a2a.ProjectsView{Projects: []a2a.ProjectView{}}
	err := f.view(ctx, func(tx engine.Tx) error {
		all, err := tx.Projects()
		if err != nil {
			return err
		}
		for _, p := range all {
			v, err := viewOf(tx, p)
			if err != nil {
				return err
			}
			out.Projects = append(out.Projects, v)
		}
		return nil
	})
	return out, err
}

func (f *Facade) projectShow(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ProjectView, error) {
	name, err := f.projectName(ctx, q.Name)
	if err != nil {
		return a2a.ProjectView{}, err
	}
	return f.projectView(ctx, name)
}

func (f *Facade) projectUse(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ProjectView, error) {
	name, err := f.projectName(ctx, q.Name)
	if err != nil {
		return a2a.ProjectView{}, err
	}
	err = f.update(ctx, func(tx engine.Tx) error {
		if _, err := tx.Project(name); err != nil {
			return err
		}
		return tx.PutSetting(currentKey, name)
	})
	if err != nil {
		return a2a.ProjectView{}, err
	}
	return f.projectView(ctx, name)
}

func (f *Facade) projectLinkResource(ctx context.Context, q a2a.LinkRequest, _ func(plan.Event)) (a2a.ProjectView, error) {
	name, err := ident.Canonical(q.Project)
	if err != nil {
		return a2a.ProjectView{}, err
	}
	err = f.update(ctx, func(tx engine.Tx) error {
		p, err := tx.Project(name)
		if err != nil {
			return err
		}
		for _, ref := range q.Resources {
			r, err := resourceIn(tx, ref)
			if err != nil {
				return err
			}
			for _, l := range p.Links {
				if l.Resource == r.ID {
					return fault.New(fault.Exists, "project %s already links %s", name, r.Name).WithCode("DuplicateLink")
				}
			}
			p.Links = append(p.Links, project.Link{Resource: r.ID, ReadOnly: q.ReadOnly})
		}
		return tx.UpdateProject(p)
	})
	if err != nil {
		return a2a.ProjectView{}, err
	}
	return f.projectView(ctx, name)
}

func (f *Facade) projectView(ctx context.Context, name string) (v a2a.ProjectView, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err := tx.Project(name)
		if err != nil {
			return err
		}
		v, err = viewOf(tx, p)
		return err
	})
	return v, err
}

func viewOf(tx engine.Tx, p project.Project) (a2a.ProjectView, error) {
	v := a2a.ProjectView{Project: p, Resources: []resource.Resource{}}
	for _, l := range p.Links {
		r, err := tx.Resource(l.Resource)
		if err != nil {
			return v, err
		}
		v.Resources = append(v.Resources, r)
	}
	current, err := tx.Setting(currentKey)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return v, err
	}
	v.Current = current == p.Name
	return v, nil
}

// projectToUse is projectName for a new plan: a directory that is no project
// yet is made one.
func (f *Facade) projectToUse(ctx context.Context, ref string, force bool) (string, error) {
	if filepath.IsAbs(ref) {
		return f.ensureProject(ctx, a2a.ProjectInitRequest{Dir: ref, Force: force})
	}
	return f.projectName(ctx, ref)
}

// projectHere is the project that counts where none is named: the one whose
// resource holds the user's directory, the innermost of several, else the
// current one; "" when there is neither.
func (f *Facade) projectHere(tx engine.Tx) (string, error) {
	here := f.Dir
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	all, err := tx.Projects()
	if err != nil {
		return "", err
	}
	name, depth := "", -1
	for _, p := range all {
		for _, l := range p.Links {
			r, err := tx.Resource(l.Resource)
			if err != nil {
				return "", err
			}
			rel, err := filepath.Rel(r.Location, here)
			if f.Dir == "" || err != nil || !filepath.IsLocal(rel) || len(r.Location) <= depth {
				continue
			}
			name, depth = p.Name, len(r.Location)
		}
	}
	if name != "" {
		return name, nil
	}
	current, err := tx.Setting(currentKey)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return current, err
}

// projectName resolves what a person gave for a project: a name, a directory,
// or nothing for the one that counts here.
func (f *Facade) projectName(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		var name string
		err := f.view(ctx, func(tx engine.Tx) (err error) {
			name, err = f.projectHere(tx)
			return err
		})
		if err == nil && name == "" {
			err = fault.New(fault.NotFound, "no project is named, none is here and none is current").
				WithHint("add -p DIR, or run agents init in the project's directory")
		}
		return name, err
	}
	if filepath.IsAbs(ref) {
		return f.projectOf(ctx, ref)
	}
	name, err := ident.Canonical(ref)
	if err != nil {
		return "", err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		_, err := tx.Project(name)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "no project %s", name).
			WithHint("agents project list shows those that exist; a directory is written with a path, as in ./%s", ref)
	}
	return name, err
}

// projectOf finds the project of a directory.
func (f *Facade) projectOf(ctx context.Context, dir string) (name string, err error) {
	real, err := f.realDir(dir, true)
	if err != nil {
		return "", err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		p, ok, err := projectAt(tx, real)
		if err == nil && !ok {
			err = fault.New(fault.NotFound, "%s is no project", dir).WithHint("agents init %s", dir)
		}
		name = p.Name
		return err
	})
	return name, err
}
