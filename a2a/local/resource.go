package local

import (
	"context"
	"path/filepath"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

func (f *Facade) resourceHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ResourceAdd(), f.resourceAdd),
		a2a.Handle(a2a.ResourceList(), f.resourceList),
		a2a.Handle(a2a.ResourceShow(), f.resourceShow),
	}
}

func (f *Facade) resourceAdd(ctx context.Context, q a2a.ResourceAddRequest, _ func(plan.Event)) (a2a.ResourceView, error) {
	t, err := resource.FindType(q.Type)
	if err != nil {
		return a2a.ResourceView{}, err
	}
	dir, err := f.realDir(q.Location, q.Force)
	if err != nil {
		return a2a.ResourceView{}, err
	}
	if t.Name == resource.GitCheckout {
		if kind, err := detect(dir, ""); err != nil || kind != t.Name {
			return a2a.ResourceView{}, fault.New(fault.Invalid, "%s holds no .git", dir).WithHint("use the type %s", resource.FSDirectory)
		}
	}
	name := q.Name
	if name == "" {
		name = nameFrom(filepath.Base(dir))
	}
	if name, err = ident.Canonical(name); err != nil {
		return a2a.ResourceView{}, err
	}
	r := resource.Resource{ID: ident.ResourceID(f.Engine.IDs.New()), Name: name, Type: t.Name, Location: dir, Created: f.Engine.Now()}
	err = f.update(ctx, func(tx engine.Tx) error { return tx.InsertResource(r) })
	if fault.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "resource %s exists", name).WithHint("add --name OTHER")
	}
	return a2a.ResourceView{Resource: r, Projects: []string{}}, err
}

func (f *Facade) resourceList(ctx context.Context, q a2a.ResourceListQuery, _ func(plan.Event)) (a2a.ResourcesView, error) {
	out := a2a.ResourcesView{Resources: []a2a.ResourceView{}}
	err := f.view(ctx, func(tx engine.Tx) error {
		all, err := tx.Resources()
		if err != nil {
			return err
		}
		for _, r := range all {
			if q.Type != "" && r.Type != q.Type {
				continue
			}
			v, err := resourceView(tx, r)
			if err != nil {
				return err
			}
			out.Resources = append(out.Resources, v)
		}
		return nil
	})
	return out, err
}

func (f *Facade) resourceShow(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.ResourceView, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		r, err := resourceIn(tx, q.Ref)
		if err != nil {
			return err
		}
		v, err = resourceView(tx, r)
		return err
	})
	return v, err
}

func resourceView(tx engine.Tx, r resource.Resource) (a2a.ResourceView, error) {
	v := a2a.ResourceView{Resource: r, Projects: []string{}}
	all, err := tx.Projects()
	if err != nil {
		return v, err
	}
	for _, p := range all {
		for _, l := range p.Links {
			if l.Resource == r.ID {
				v.Projects = append(v.Projects, p.Name)
			}
		}
	}
	return v, nil
}

// resourceIn resolves a resource by name, id or end of id.
func resourceIn(tx engine.Tx, ref string) (resource.Resource, error) {
	if name, err := ident.Canonical(ref); err == nil {
		r, err := tx.ResourceByName(name)
		if err == nil || !fault.Is(err, fault.NotFound) {
			return r, err
		}
	}
	id, err := find(tx, "resource", ref)
	if err != nil {
		return resource.Resource{}, fault.New(fault.NotFound, "no resource %q", ref).WithHint("agents resource list shows those that exist")
	}
	return tx.Resource(ident.ResourceID(id))
}
