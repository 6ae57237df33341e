// Package builtin is the tools that come with the program: read, list, glob,
// grep, edit, write, delete, move, shell, page, and the descriptions of ask and
// record_decision, which the engine executes itself. It also runs validations.
//
// Every file tool works through one os.Root on the sandbox: a path is made
// relative and lexically local, no part of it may be .git or a symbolic link,
// only regular files are opened, without blocking, and a write is a temporary
// file renamed over the old one. Sizes are capped before memory is taken.
// What a tool has to say to its caller, errors included, is its result; an
// error of Call is a fault of ours.
//
// Programs run in a jail (package jail), in the tree and nowhere else. One that
// must be confined and cannot be is an error of Call, which stops the plan: it
// is nothing that a model could do anything about.
//
// Text that came from outside is made valid UTF-8 and otherwise shown as it
// is; neutralising terminal escapes is for whoever prints it.
package builtin

import (
	"context"
	"embed"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/tool"
)

// docs are the descriptions for the model, one file a tool.
//
//go:embed *.md
var docs embed.FS

// Config is what the tools need from outside.
type Config struct {
	Jail *jail.Jail // runs programs
	// How long a command of the shell tool may run when the model does not say,
	// and at most; 0 means two and thirty minutes.
	ShellTimeout, ShellMaxTimeout time.Duration
}

// Toolbox implements engine.Toolbox. Safe for concurrent use.
type Toolbox struct {
	specs []tool.Spec
	tools map[string]entry
}

// entry is one tool. A nil run is for the engine to execute.
type entry struct {
	spec tool.Spec
	run  func(ctx context.Context, w *work, args []byte) (tool.Result, error)
}

// work is where one call runs that may write.
type work struct {
	tree
	in engine.ToolContext
}

// look is where one call runs that only reads. It does not know where the
// sandbox is.
type look struct {
	view
	seen engine.Seen
	page func(hash string) ([]byte, error)
}

// New returns the toolbox.
func New(c Config) *Toolbox {
	b := &Toolbox{tools: map[string]entry{}}
	for _, e := range []entry{
		readTool(), listTool(), globTool(), grepTool(),
		editTool(), writeTool(), deleteTool(), moveTool(),
		shellTool(c), pageTool(), decisionTool(), askTool(),
	} {
		b.tools[e.spec.Name] = e
		b.specs = append(b.specs, e.spec)
	}
	slices.SortFunc(b.specs, func(x, y tool.Spec) int { return strings.Compare(x.Name, y.Name) })
	return b
}

// Specs returns the tools by name.
func (b *Toolbox) Specs() []tool.Spec { return slices.Clone(b.specs) }

// Call runs one tool. Under ToolContext.ReadOnly a tool that is not declared
// read-only is refused.
func (b *Toolbox) Call(ctx context.Context, name string, args []byte, in engine.ToolContext) (tool.Result, error) {
	e, ok := b.tools[name]
	if !ok {
		return tool.Result{}, fault.New(fault.Internal, "there is no tool %q", name)
	}
	if e.run == nil {
		return tool.Result{}, fault.New(fault.Internal, "%s is executed by the engine", name)
	}
	if in.ReadOnly && !e.spec.Capability.ReadOnly {
		return tool.Fail(fault.New(fault.Denied, "%s may write, and nothing may be written here", name)), nil
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return tool.Result{}, fault.New(fault.Internal, "open the sandbox: %w", err)
	}
	defer root.Close()
	if in.Seen == nil {
		in.Seen = blind{}
	}
	res, err := e.run(ctx, &work{newTree(root), in}, args)
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return tool.Result{}, fault.As(ctx.Err())
	case fault.Is(err, fault.Internal), fault.CodeOf(err) == jail.NoSandbox:
		return tool.Result{}, err
	}
	return tool.Fail(err), nil
}

// blind has seen nothing, so that no file counts as read.
type blind struct{}

func (blind) Last(string) (string, bool) { return "", false }
func (blind) Note(string, string)        {}

// working makes the entry of a tool that may write. Base is the name without
// builtin/, and of the file that describes it.
func working[A any](base, schema string, f func(context.Context, *work, A) (tool.Result, error)) entry {
	return define(base, schema, tool.Capability{Writes: true, Checkpointable: true}, f)
}

// looking makes the entry of a tool that is read-only, by what it is given.
func looking[A any](base, schema string, f func(context.Context, *look, A) (tool.Result, error)) entry {
	return define(base, schema, tool.Capability{ReadOnly: true}, func(ctx context.Context, w *work, a A) (tool.Result, error) {
		return f(ctx, &look{w.view, w.in.Seen, w.in.Page}, a)
	})
}

// define makes an entry whose function takes its arguments decoded.
func define[A any](base, schema string, c tool.Capability, f func(context.Context, *work, A) (tool.Result, error)) entry {
	e := entry{spec: describe(base, schema, c)}
	e.run = func(ctx context.Context, w *work, args []byte) (tool.Result, error) {
		var a A
		if err := decode.JSON("arguments", args, &a); err != nil {
			return tool.Result{}, err
		}
		return f(ctx, w, a)
	}
	return e
}

func describe(base, schema string, c tool.Capability) tool.Spec {
	doc, err := docs.ReadFile(base + ".md")
	if err != nil {
		doc = nil // a test reads every description
	}
	return tool.Spec{
		Name: "builtin/" + base, Description: strings.TrimSpace(string(doc)),
		Input: json.RawMessage(schema), Capability: c,
	}
}

func done(output string, wrote ...string) (tool.Result, error) {
	return tool.Result{Status: tool.OK, Output: output, Reported: wrote}, nil
}
