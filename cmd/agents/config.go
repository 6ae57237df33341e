package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/adrg/xdg"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/config/file"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// configPath is the person's file: the one that is named, else the usual one.
func configPath(named string) string {
	if named != "" {
		return named
	}
	return filepath.Join(xdg.ConfigHome, "cleveragents", "config.toml")
}

// readConfig implements cli.Env.ReadConfig. A file that was named has to be
// there, unless a command is about to make it.
func readConfig(named string) (where string, text []byte, err error) {
	where = configPath(named)
	text, err = file.Read(where)
	if err == nil && text == nil && named != "" {
		err = fault.New(fault.NotFound, "no configuration file %s", named).
			WithHint("agents config set makes it, or leave out --config-file and AGENTS_CONFIG_FILE")
	}
	return where, text, err
}

// personal is the configuration of the person who runs the program.
type personal struct{ path string }

// Path returns where the file is, or would be.
func (p personal) Path() string { return p.path }

// Read returns the text of the file.
func (p personal) Read() ([]byte, error) { return file.Read(p.path) }

// Update replaces the text of the file.
func (p personal) Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	return file.Update(ctx, p.path, edit)
}

// Getenv reads a variable.
func (personal) Getenv(name string) string { return os.Getenv(name) }

// Vars returns the variables that begin with a prefix.
func (personal) Vars(prefix string) map[string]string { return proc.Vars(prefix) }

// Tree reads the file that came with a project.
func (personal) Tree(dir string) (text []byte, path string, err error) { return file.Tree(dir) }

// editText has the person change a text in the editor. When the editor fails
// the copy is removed: nothing was decided.
func editText(ctx context.Context, name, text string) (_ string, err error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return "", fault.New(fault.Invalid, "neither VISUAL nor EDITOR names an editor").WithHint("EDITOR=vi agents config edit")
	}
	dir, err := os.MkdirTemp("", "agents-edit-")
	if err != nil {
		return "", fault.New(fault.Unavailable, "make a copy to edit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fault.New(fault.Unavailable, "make a copy to edit: %w", err)
	}
	// An editor may be several words, such as "code --wait": the shell splits them.
	if err := proc.Terminal(ctx, []string{"sh", "-c", editor + ` "$1"`, editor, path}); err != nil {
		return "", err
	}
	b, err := file.Read(path)
	return string(b), err
}

// newLog returns the log of the program as it is set, and what closes it.
func newLog(s config.Settings) (*slog.Logger, io.Closer, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.Text(config.LogLevel))); err != nil {
		return nil, nil, fault.New(fault.Internal, "%s: %w", config.LogLevel, err)
	}
	var out io.WriteCloser = keptOpen{os.Stderr}
	if path := s.Text(config.LogFile); path != "stderr" {
		f, err := openLog(path)
		if err != nil {
			return nil, nil, fault.New(fault.Unavailable, "open the log: %w", err).WithHint("agents config explain %s", config.LogFile)
		}
		out = f
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), out, nil
}

// openLog opens a regular file to append to.
func openLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Mode().Type() != 0 {
		return nil, errors.Join(err, f.Close(), &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")})
	}
	return f, nil
}

// keptOpen is a writer that others use too.
type keptOpen struct{ io.Writer }

// Close does nothing.
func (keptOpen) Close() error { return nil }
