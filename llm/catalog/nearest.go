package catalog

import (
	"strings"

	"github.com/cleveragents/agents/provider"
)

// Of returns the id under which the models of a configured provider are in the
// catalogue; "" when its address is not one that the catalogue knows, since
// what another server asks for the same model is not known.
func Of(c provider.Config) string {
	info, _ := c.Kind.Info()
	switch {
	case c.Kind == provider.Bedrock && strings.HasPrefix(c.Region, "eu-"):
		return "bedrock-europe"
	case c.Kind == provider.Bedrock, c.Kind == provider.Azure:
		return info.Catalogue
	}
	url := c.Filled().BaseURL
	if url == info.BaseURL {
		return info.Catalogue
	}
	for _, p := range Providers() {
		if p.BaseURL != "" && p.BaseURL == url {
			return p.ID
		}
	}
	return ""
}

// Nearest returns at most three names provider/model that may be meant by one
// that is not in the catalogue: models of the provider with such a name, the
// model at another provider, or a provider with such a name.
func Nearest(ref provider.Ref) []string {
	_, body, ok := section(ref.Provider)
	if !ok {
		return nearProviders(ref)
	}
	var ids []string
	for line := range strings.Lines(body) {
		id, _, _ := strings.Cut(line, "\t")
		if ids = append(ids, id); undated(id) != id { // which is a name of it, too
			ids = append(ids, undated(id))
		}
	}
	if near := provider.Nearest(ref.Model, ids); len(near) > 0 {
		return refs(ref.Provider, near)
	}
	return elsewhere(ref.Model)
}

func nearProviders(ref provider.Ref) []string {
	var ids, out []string
	for _, p := range Providers() {
		ids = append(ids, p.ID)
	}
	for _, id := range provider.Nearest(ref.Provider, ids) {
		if _, ok := Lookup(id, ref.Model); ok {
			out = append(out, id+"/"+ref.Model)
		}
	}
	if len(out) == 0 {
		return elsewhere(ref.Model)
	}
	return out
}

// elsewhere finds a model at other providers, those that made it first.
func elsewhere(model string) []string {
	var out []string
	add := func(id string) {
		if _, ok := Lookup(id, model); ok && len(out) < 3 {
			out = append(out, id+"/"+model)
		}
	}
	first := map[string]bool{"": true}
	for _, in := range provider.Kinds() {
		if !first[in.Catalogue] {
			first[in.Catalogue] = true
			add(in.Catalogue)
		}
	}
	for _, p := range Providers() {
		if !first[p.ID] {
			add(p.ID)
		}
	}
	return out
}

func refs(id string, models []string) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = id + "/" + m
	}
	return out
}
