// Package action is the reusable plan template: what is to be done, when it is
// done, who does it, which arguments it takes and which checks must pass.
package action

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// State is where an action is in its own life.
type State string

// The states of an action.
const (
	Draft     State = "draft"
	Available State = "available"
	Archived  State = "archived"
)

// Action is a plan template (the specification, Overview, "Action").
type Action struct {
	Name              string            `json:"name" yaml:"name"`
	Description       string            `json:"description" yaml:"description"`
	DefinitionOfDone  string            `json:"definition_of_done" yaml:"definition_of_done"`
	StrategyActor     string            `json:"strategy_actor" yaml:"strategy_actor"`
	ExecutionActor    string            `json:"execution_actor" yaml:"execution_actor"`
	EstimationActor   string            `json:"estimation_actor,omitempty" yaml:"estimation_actor,omitempty"` // says what a plan will cost, when asked
	InvariantActor    string            `json:"invariant_actor,omitempty" yaml:"invariant_actor,omitempty"`   // reconciles invariants
	AutomationProfile string            `json:"automation_profile,omitempty" yaml:"automation_profile,omitempty"`
	Safety            *policy.Safety    `json:"safety_profile,omitempty" yaml:"safety_profile,omitempty"`
	Args              []Arg             `json:"args,omitempty" yaml:"args,omitempty"`
	Invariants        []string          `json:"invariants,omitempty" yaml:"invariants,omitempty"`
	Validations       []tool.Validation `json:"validations,omitempty" yaml:"validations,omitempty"`
	// ContextFiles are files of the project's root whose text is shown to models
	// as advice; absent means DefaultContextFiles, [] none.
	ContextFiles *[]string `json:"context_files,omitzero" yaml:"context_files,omitempty"`
	ReadOnly     bool      `json:"read_only,omitempty" yaml:"read_only,omitempty"`
	State        State     `json:"state" yaml:"state,omitempty"`
}

// DefaultContextFiles are where repositories keep advice for agents.
func DefaultContextFiles() []string { return []string{"AGENTS.md", "CLAUDE.md"} }

// maxContextFiles bounds the files of ContextFiles.
const maxContextFiles = 8

// Context returns the files that models are shown, in order.
func (a Action) Context() []string {
	if a.ContextFiles == nil {
		return DefaultContextFiles()
	}
	return *a.ContextFiles
}

func (a Action) checkContext() ([]string, error) {
	if a.ContextFiles == nil {
		return nil, nil
	}
	key := []string{"context_files"}
	if len(*a.ContextFiles) > maxContextFiles {
		return key, fault.New(fault.Invalid, "action %s: %d context_files, at most %d", a.Name, len(*a.ContextFiles), maxContextFiles)
	}
	for _, f := range *a.ContextFiles {
		if !isContextFile(f) || path.Clean(f) != f || slices.Contains(strings.Split(f, "/"), "..") {
			return key, fault.New(fault.Invalid, "action %s: context_files: %q is not the plain name of a file below the project's root", a.Name, f)
		}
	}
	return nil, nil
}

// isContextFile reports whether a name can be that of a file to read: at most 200
// letters, digits and . _ / - or spaces, of which it begins with one of the
// first four. A pattern with letters of all scripts would take 9 ms to compile.
func isContextFile(name string) bool {
	for i, r := range name {
		plain := unicode.IsLetter(r) || unicode.IsNumber(r) || r == '.' || r == '_'
		if !plain && (i == 0 || r != ' ' && r != '/' && r != '-') {
			return false
		}
	}
	return name != "" && utf8.RuneCountInString(name) <= 200
}

// Arg is one typed argument of an action.
type Arg struct {
	Name        string  `json:"name" yaml:"name"`
	Type        ArgType `json:"type" yaml:"type"`
	Description string  `json:"description,omitempty" yaml:"description,omitempty"`
	Required    bool    `json:"required,omitempty" yaml:"required,omitempty"`
	Default     *string `json:"default,omitzero" yaml:"default,omitempty"`
}

// ArgType is the type of an argument's value.
type ArgType string

// The argument types.
const (
	Text    ArgType = "string"
	Integer ArgType = "integer"
	Number  ArgType = "number"
	Boolean ArgType = "boolean"
)

var argName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`) })

// Parse reads an action from YAML and checks it whole. Errors carry the file
// and the line of the key that is wrong.
func Parse(file string, data []byte) (Action, error) {
	var a Action
	if err := decode.YAML(file, data, &a); err != nil {
		return Action{}, err
	}
	name, err := ident.Canonical(a.Name)
	if err != nil {
		return Action{}, fault.New(fault.Invalid, "%s: %w", decode.At(file, data, "name"), err)
	}
	a.Name = name
	if a.State == "" {
		a.State = Available
	}
	if key, err := a.check(); err != nil {
		return Action{}, fault.New(fault.Invalid, "%s: %w", decode.At(file, data, key...), err)
	}
	return a, nil
}

// Validate checks what holds between the keys.
func (a Action) Validate() error {
	_, err := a.check()
	return err
}

// check returns the first fault and the path of the key that causes it.
func (a Action) check() (key []string, err error) {
	for _, c := range []struct{ key, value string }{
		{"description", a.Description}, {"definition_of_done", a.DefinitionOfDone},
		{"strategy_actor", a.StrategyActor}, {"execution_actor", a.ExecutionActor},
	} {
		if strings.TrimSpace(c.value) == "" {
			return []string{c.key}, fault.New(fault.Invalid, "action %s: %s is missing", a.Name, c.key)
		}
	}
	if !slices.Contains([]State{Draft, Available, Archived}, a.State) {
		return []string{"state"}, fault.New(fault.Invalid, "action %s: state %q is not draft, available or archived", a.Name, a.State)
	}
	if s := a.Safety; s != nil && (s.MaxTotalCost != nil || s.AllowedSkillCategories != nil) {
		return []string{"safety_profile"}, fault.New(fault.NotImplemented,
			"action %s: max_total_cost and allowed_skill_categories are not enforced yet, so they are not accepted", a.Name)
	}
	if a.AutomationProfile != "" {
		if _, err := policy.Find(a.AutomationProfile); err != nil {
			return []string{"automation_profile"}, err
		}
	}
	if key, err := a.checkArgs(); err != nil {
		return key, err
	}
	if key, err := a.checkContext(); err != nil {
		return key, err
	}
	return a.checkValidations()
}

func (a Action) checkArgs() ([]string, error) {
	seen := map[string]bool{}
	for i, g := range a.Args {
		key := []string{"args", strconv.Itoa(i)}
		switch {
		case !argName().MatchString(g.Name):
			return key, fault.New(fault.Invalid, "argument %q: a name is a-z, 0-9 and _, starting with a letter", g.Name)
		case seen[g.Name]:
			return key, fault.New(fault.Invalid, "argument %s is declared twice", g.Name)
		case !slices.Contains([]ArgType{Text, Integer, Number, Boolean}, g.Type):
			return key, fault.New(fault.Invalid, "argument %s: type %q is not string, integer, number or boolean", g.Name, g.Type)
		case g.Required && g.Default != nil:
			return key, fault.New(fault.Invalid, "argument %s is required and has a default: choose one", g.Name)
		}
		if g.Default != nil {
			if err := g.check(*g.Default); err != nil {
				return key, err
			}
		}
		seen[g.Name] = true
	}
	return nil, nil
}

func (a Action) checkValidations() ([]string, error) {
	seen := map[string]bool{}
	for i, v := range a.Validations {
		key := []string{"validations", strconv.Itoa(i)}
		switch {
		case v.Name == "" || seen[v.Name]:
			return key, fault.New(fault.Invalid, "validation %d: needs a name of its own, got %q", i+1, v.Name)
		case v.Mode != tool.Required && v.Mode != tool.Informational:
			return key, fault.New(fault.Invalid, "validation %s: mode %q is not required or informational", v.Name, v.Mode)
		case (v.Command == "") == (len(v.Argv) == 0):
			return key, fault.New(fault.Invalid, "validation %s: give either command or argv", v.Name)
		case len(v.Argv) > 0 && v.Argv[0] == "":
			return key, fault.New(fault.Invalid, "validation %s: argv names no program", v.Name)
		case v.Timeout < 0:
			return key, fault.New(fault.Invalid, "validation %s: timeout_seconds is negative", v.Name)
		}
		for _, text := range append([]string{v.Command}, v.Argv...) {
			if _, err := actor.Expand(text, a.Values("", "", nil)); err != nil {
				return key, fault.New(fault.Invalid, "validation %s: %w", v.Name, err)
			}
		}
		seen[v.Name] = true
	}
	return nil, nil
}

// Actors returns the names of the actors that the action names: strategy,
// execution, and those of other roles where it has them.
func (a Action) Actors() []string {
	out := []string{a.StrategyActor, a.ExecutionActor}
	for _, name := range []string{a.EstimationActor, a.InvariantActor} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Values are the names that a validation and a graph actor may use in {{…}}:
// action.description, action.definition_of_done, plan.id, plan.prompt and
// args.NAME for every declared argument.
func (a Action) Values(planID, prompt string, args map[string]string) map[string]string {
	v := map[string]string{
		"action.description":        a.Description,
		"action.definition_of_done": a.DefinitionOfDone,
		"plan.id":                   planID,
		"plan.prompt":               prompt,
	}
	for _, g := range a.Args {
		v["args."+g.Name] = args[g.Name]
	}
	return v
}

// check reports whether value is of the argument's type.
func (g Arg) check(value string) error {
	var err error
	switch g.Type {
	case Integer:
		_, err = strconv.ParseInt(value, 10, 64)
	case Number:
		var f float64
		if f, err = strconv.ParseFloat(value, 64); err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = strconv.ErrSyntax
		}
	case Boolean:
		if value != "true" && value != "false" {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return fault.New(fault.Invalid, "argument %s: %q is not of type %s", g.Name, value, g.Type)
	}
	return nil
}

// Bind checks the given values against the declared arguments and returns all
// of them, defaults filled in; an optional argument without a value is "".
func (a Action) Bind(given map[string]string) (map[string]string, error) {
	out := map[string]string{}
	var missing []string
	for _, g := range a.Args {
		v, ok := given[g.Name]
		switch {
		case ok:
			if err := g.check(v); err != nil {
				return nil, err
			}
		case g.Required:
			missing = append(missing, g.Name)
		case g.Default != nil:
			v = *g.Default
		}
		out[g.Name] = v
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.Invalid, "action %s: missing argument %s", a.Name, strings.Join(missing, ", ")).
			WithHint("add --arg %s=…", missing[0])
	}
	for name := range given {
		if _, ok := out[name]; !ok {
			return nil, fault.New(fault.Invalid, "action %s has no argument %q", a.Name, name).
				WithHint("it takes: %s", a.argList())
		}
	}
	return out, nil
}

func (a Action) argList() string {
	if len(a.Args) == 0 {
		return "no arguments"
	}
	var names []string
	for _, g := range a.Args {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}
