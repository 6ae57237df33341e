package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
)

// settleConfig reads what the person has set, before anything depends on it.
// With a broken configuration only those commands work that mend it or need
// none.
func (a *app) settleConfig(cmd *cobra.Command) error {
	path := a.flags.configFile
	if path == "" {
		path = a.env.Getenv(envConfigFile)
	}
	if path != "" {
		path = a.abs(path)
	}
	a.configFile = path
	var text []byte
	var vars map[string]string
	if a.env.Vars != nil {
		vars = a.env.Vars(config.EnvPrefix)
	}
	if a.env.ReadConfig != nil {
		var err error
		if path, text, err = a.env.ReadConfig(path); err != nil && !mends(cmd) {
			return err
		}
	}
	s, err := config.Load(path, text, a.env.Getenv, vars)
	if err != nil && !mends(cmd) {
		e := fault.As(err)
		if e.Hint == "" && !strings.HasPrefix(e.Msg, "environment ") {
			return fault.New(fault.Invalid, "%w", err).WithHint("agents config edit")
		}
		return err
	}
	for _, x := range a.said(cmd) {
		k, _ := config.Find(x.Key)
		if value, err := k.Check(x.Value); err == nil {
			s = s.Over(config.Entry{Key: x.Key, Value: value, Origin: config.Origin{Layer: config.Flag, Name: x.From}})
		} // a flag that takes no such value is refused where it is read
	}
	a.settings = s
	return nil
}

// mends reports whether a command has to work with a broken configuration.
func mends(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		switch c.CommandPath() {
		case "agents config", "agents help", "agents version", "agents completion":
			return true
		}
	}
	return !cmd.HasParent() || cmd.HasSubCommands()
}

// said is what flags say about keys, for an answer that tells where a value is
// from.
func (a *app) said(cmd *cobra.Command) []a2a.ConfigSaid {
	var out []a2a.ConfigSaid
	for _, k := range config.Keys() {
		f := cmd.Flags().Lookup(k.Flag)
		switch {
		case k.Name == config.Color && a.flags.noColor:
			out = append(out, a2a.ConfigSaid{Key: k.Name, Value: "never", From: "--no-color"})
		case f != nil && f.Changed:
			out = append(out, a2a.ConfigSaid{Key: k.Name, Value: f.Value.String(), From: "--" + k.Flag})
		}
	}
	return out
}

// named returns the project that -p names; unlike project, nothing stands for
// it.
func (a *app) named(cmd *cobra.Command) string {
	if !cmd.Flags().Changed("project") {
		return ""
	}
	return a.project()
}
