package cli

import "github.com/cleveragents/agents/a2a"

func sampleLimit() a2a.ConfigValue {
	const file = "/home/ann/.config/cleveragents/config.toml"
	return a2a.ConfigValue{Key: "plan.max-cost", Value: "2.5", Origin: a2a.ConfigOrigin{Layer: "user", File: file, Line: 5, Text: file + ":5"}}
}

func sampleKey(now a2a.ConfigValue) a2a.ConfigKeyView {
	return a2a.ConfigKeyView{
		Key: now.Key, Doc: "The most that a new plan may spend.", Type: "dollars", Takes: "a number of dollars or none", Default: "none",
		Layers: []string{"user", "project", "environment"}, Vars: []string{"AGENTS_CFG_plan__max_cost"}, Flag: "--max-cost", Instead: "agents x",
		Said: []a2a.ConfigValue{now, {Key: now.Key, Value: "none", Origin: a2a.ConfigOrigin{Layer: "default", Text: "default"}}},
	}
}
