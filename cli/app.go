package cli

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

// app is one run of the command line: what it was given, what the global flags
// and the environment make of it, and what it has to say in the end.
type app struct {
	env    Env
	flags  globals
	format Format
	dir    string // the working directory, after -C
	ask    bool   // a person is there and may be asked
	out    *output
	pick   picker        // what is taken out of the result, or nil
	typed  *bufio.Reader // standard input, once something was asked

	settings   config.Settings // of the person's file and the environment
	configFile string          // "" is the usual place

	unopened bool // the operation works where the data cannot be opened
	opened   a2a.Client
	closer   io.Closer
	exit     int   // the status of a program that was run for the person
	lost     error // what went wrong while a page of help was asked for
}

// globals are the flags that every command takes.
type globals struct {
	format, dataDir, configFile, cwd, color, project string
	jq, template, logLevel, logFile                  string
	noColor, yes, noInput, wait, noWait, quiet, wide bool
	verbose                                          int
	timeout                                          time.Duration
}

func newApp(env Env, args []string) *app {
	a := &app{env: env, format: formatIn(args)}
	if a.format == "" {
		a.format = a.defaultFormat()
	}
	return a
}

func (a *app) defaultFormat() Format {
	if f, err := parseFormat(a.env.Getenv(envFormat)); err == nil {
		return f
	}
	return a.usualFormat()
}

func (a *app) usualFormat() Format {
	if a.env.StdoutTTY {
		return Rich
	}
	return Plain
}

// bind adds the global flags to the root.
func (a *app) bind(root *cobra.Command) {
	f, g := root.PersistentFlags(), &a.flags
	f.StringVar(&g.format, "format", "", "write results in this `form`: "+formatNames()+" (default: rich on a terminal, else plain)")
	f.StringVar(&g.jq, "jq", "", "take values out of the JSON of the result with a jq `expression`")
	f.StringVar(&g.template, "template", "", "write the JSON of the result through a Go `template`")
	f.StringVarP(&g.project, "project", "p", "", "`project` by name or directory (default: the current one)")
	f.StringVarP(&g.cwd, "cwd", "C", "", "work as if started in this `directory`")
	f.StringVar(&g.dataDir, "data-dir", "", "keep data in this `directory`")
	f.StringVar(&g.configFile, "config-file", "", "read your configuration from this `file`")
	f.BoolVarP(&g.yes, "yes", "y", false, "answer questions with yes; approvals stay with a person")
	f.BoolVar(&g.noInput, "no-input", false, "never ask; a tool that needs approval is refused (default: true without a terminal)")
	f.BoolVar(&g.wait, "wait", false, "let the new plan go on as far as its profile allows (what run does)")
	f.BoolVar(&g.noWait, "no-wait", false, "only make and store the plan and say how it goes on; same as --wait=false")
	f.DurationVar(&g.timeout, "timeout", 0, "pause the plan or give up after this time, such as 10m; exit 124")
	f.BoolVar(&g.wide, "wide", false, "wrap nothing, leave nothing out, show whole ids")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress and no suggestions")
	f.CountVarP(&g.verbose, "verbose", "v", "also show model calls, model text and the facts of an error")
	f.StringVar(&g.logLevel, "log-level", "", "what `level` is logged: debug, info, warn or error (default: warn)")
	f.StringVar(&g.logFile, "log-file", "", "append the log to this `file` instead of standard error")
	f.StringVar(&g.color, "color", "auto", "`when` to paint: auto, always or never")
	f.BoolVar(&g.noColor, "no-color", false, "same as --color never")
}

// settle turns flags and environment into what the commands read. It refuses a
// flag that would do nothing for the command.
func (a *app) settle(cmd *cobra.Command) error {
	g := &a.flags
	name := cmd.CommandPath()
	if err := a.settleDir(); err != nil {
		return err
	}
	if err := a.settleLog(cmd); err != nil {
		return err
	}
	if err := a.settleConfig(cmd); err != nil {
		return err
	}
	if err := a.settleFormat(name); err != nil {
		return err
	}
	if err := a.settlePick(cmd); err != nil {
		return err
	}
	if !cmd.Flags().Changed("color") {
		g.color = a.settings.Text(config.Color)
	}
	if !slices.Contains([]string{"auto", "always", "never"}, g.color) {
		return usage(name, "--color %q is not auto, always or never", g.color)
	}
	if g.timeout < 0 {
		return usage(name, "--timeout %s is negative", g.timeout)
	}
	if cmd.Runnable() && !cmd.HasSubCommands() {
		uses := strings.Split(cmd.Annotations[noteUses], ",")
		for _, f := range limitedFlags() {
			if cmd.Flags().Changed(f) && !slices.Contains(uses, f) {
				return usage(name, "--%s means nothing to %q", f, name)
			}
		}
	}
	if !cmd.Flags().Changed("no-input") {
		set := a.env.Getenv(envNoInput)
		g.noInput = !a.env.StdinTTY || (set != "" && set != "0" && set != "false")
	}
	a.ask = a.env.StdinTTY && !g.noInput && !g.yes
	if g.project == "" {
		g.project = a.settings.Text(config.CurrentProject)
	}
	return nil
}

// limitedFlags are the global flags that mean something to some commands only.
func limitedFlags() []string { return []string{"project", "wait", "no-wait", "wide"} }

// waits reports whether a plan that was made is carried on at once.
func (a *app) waits(cmd *cobra.Command, usual bool) (bool, error) {
	set := cmd.Flags().Changed("wait")
	switch {
	case set && a.flags.noWait && a.flags.wait:
		return false, usage(cmd.CommandPath(), "give either --wait or --no-wait")
	case set:
		return a.flags.wait, nil
	}
	return usual && !a.flags.noWait, nil
}

func (a *app) settleFormat(command string) error {
	text := a.flags.format
	if text == "" {
		text = a.settings.Text(config.Format)
	}
	if text == "auto" {
		a.format = a.usualFormat()
		return nil
	}
	f, err := parseFormat(text)
	if err != nil {
		return usage(command, "%w", err)
	}
	a.format = f
	return nil
}

// settleLog refuses a level that does not exist, and makes the file's path one
// that does not depend on where the program runs.
func (a *app) settleLog(cmd *cobra.Command) error {
	g := &a.flags
	k, _ := config.Find(config.LogLevel)
	if cmd.Flags().Changed("log-level") && !slices.Contains(k.Values, g.logLevel) {
		return usage(cmd.CommandPath(), "--log-level %q is not one of %s", g.logLevel, strings.Join(k.Values, ", "))
	}
	if !cmd.Flags().Changed("log-file") {
		return nil
	}
	if g.logFile == "" {
		return usage(cmd.CommandPath(), "--log-file is empty")
	}
	if g.logFile != "stderr" {
		g.logFile = a.abs(g.logFile)
	}
	return nil
}

func (a *app) settleDir() error {
	dir, err := a.env.Getwd()
	if err != nil {
		return fault.New(fault.Unavailable, "find the working directory: %w", err)
	}
	a.dir = dir
	if a.flags.cwd == "" {
		return nil
	}
	a.dir = a.abs(a.flags.cwd)
	if a.env.IsDir != nil && !a.env.IsDir(a.dir) {
		return fault.New(fault.NotFound, "-C %s: no such directory", a.flags.cwd)
	}
	return nil
}

// abs returns the absolute form of a path as a person typed it.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}

// project returns the project of the flags as an operation takes it.
func (a *app) project() string { return a.projectRef(a.flags.project) }

// projectRef returns a project as an operation takes it: a name as it is, a
// directory in its absolute form, "" for the current one.
func (a *app) projectRef(p string) string {
	if p == "." || p == ".." || filepath.IsAbs(p) || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		return a.abs(p)
	}
	return p
}

// client opens the way to the operations, once.
func (a *app) client(ctx context.Context) (a2a.Client, error) {
	if a.opened != nil {
		return a.opened, nil
	}
	c, closer, err := a.env.Open(ctx, a.options())
	if err != nil {
		return nil, err
	}
	a.opened, a.closer = c, closer
	return c, nil
}

func (a *app) options() Options {
	dir := a.flags.dataDir
	if dir == "" {
		dir = a.env.Getenv(envDataDir)
	}
	if dir != "" {
		dir = a.abs(dir)
	}
	return Options{DataDir: dir, Dir: a.dir, ConfigFile: a.configFile, Settings: a.settings, Unopened: a.unopened}
}

// color reports whether to paint on an output that is a terminal or not.
func (a *app) color(tty bool) bool {
	switch {
	case a.flags.noColor || a.flags.color == "never":
		return false
	case a.flags.color == "always":
		return true
	}
	return tty && a.env.Getenv(envNoColor) == "" && a.env.Getenv("TERM") != "dumb"
}

func (a *app) width() int {
	if a.env.Width > 0 {
		return a.env.Width
	}
	return 80
}
