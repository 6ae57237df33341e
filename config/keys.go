package config

import "github.com/cleveragents/agents/policy"

// The names of the keys. A test fails when the program reads one of them
// nowhere.
const (
	Profile         = "core.automation-profile"
	CurrentProject  = "core.project"
	Format          = "core.format"
	Color           = "core.color"
	LogLevel        = "log.level"
	LogFile         = "log.file"
	MaxCost         = "plan.max-cost"
	MaxToolCalls    = "plan.max-tool-calls"
	ShellTimeout    = "shell.timeout"
	ShellMaxTimeout = "shell.max-timeout"
	CheckTimeout    = "validation.timeout"
	MaxFiles        = "sandbox.max-files"
	DefaultModel    = "provider.default"
	Backend         = "sandbox.backend"
	Network         = "sandbox.network"
	ReadOnly        = "sandbox.read-only"
	Memory          = "sandbox.memory"
	Processes       = "sandbox.processes"
	FileSize        = "sandbox.file-size"
	Disk            = "sandbox.disk"
)

// Keys returns every key, in the order of their sections.
func Keys() []Key {
	person := []Layer{User, Env}
	var profiles []string
	for _, p := range policy.Builtin() {
		profiles = append(profiles, p.Name)
	}
	return []Key{
		{
			Name: Profile, Type: Choice, Values: profiles, Default: policy.DefaultProfile,
			Doc:    "The automation profile of new plans: what goes ahead without a person. A plan keeps the one it was made with. From the environment it counts as if it were given to plan use; else an action's own profile is stronger.",
			Layers: []Layer{User, Project, Env, Flag}, Env: "AGENTS_PROFILE", Flag: "automation-profile",
		},
		{
			Name: CurrentProject, Type: Word,
			Doc:    "The project where none is named and the working directory belongs to none.",
			Layers: []Layer{Data, Env, Flag}, Env: "AGENTS_PROJECT", Flag: "project", Instead: "agents project use",
		},
		{
			Name: Format, Type: Choice, Values: []string{"auto", "rich", "plain", "table", "json", "yaml", "jsonl"}, Default: "auto",
			Doc:    "How results are written; auto is rich on a terminal and plain elsewhere.",
			Layers: append(person, Flag), Env: "AGENTS_FORMAT", Flag: "format",
		},
		{
			Name: Color, Type: Choice, Values: []string{"auto", "always", "never"}, Default: "auto",
			Doc:    "Colours; auto paints on a terminal only.",
			Layers: append(person, Flag), Env: "NO_COLOR", EnvSays: "never", Flag: "color",
		},
		{
			Name: LogLevel, Type: Choice, Values: []string{"debug", "info", "warn", "error"}, Default: "warn",
			Doc:    "What the log holds: this and what is graver.",
			Layers: append(person, Flag), Env: "AGENTS_LOG", Flag: "log-level",
		},
		{
			Name: LogFile, Type: Path, Values: []string{"stderr"}, Default: "stderr",
			Doc:    "Where the log goes. A file is appended to, and made for its owner only.",
			Layers: append(person, Flag), Flag: "log-file",
		},
		{
			Name: MaxCost, Type: Money, Most: 1e9, None: true, Default: None,
			Doc:    "The most that a new plan may spend on model calls, in US dollars. The lower of this and the limit of its profile counts; under a limit no call is made whose price is not known.",
			Layers: []Layer{User, Tree, Project, Env},
		},
		{
			Name: MaxToolCalls, Type: Whole, Most: 1e9, None: true, Default: None,
			Doc:    "How many tool calls of a new plan's step go ahead before a person is asked. The lower of this and the limit of its profile counts.",
			Layers: []Layer{User, Tree, Project, Env},
		},
		{
			Name: ShellTimeout, Type: Span, Least: 1, Most: 86400, Default: "2m",
			Doc:    "How long a command of the shell tool may run when the model does not say.",
			Layers: person,
		},
		{
			Name: ShellMaxTimeout, Type: Span, Least: 1, Most: 86400, Default: "30m",
			Doc:    "The longest that a model may let a command of the shell tool run.",
			Layers: person,
		},
		{
			Name: CheckTimeout, Type: Span, Least: 1, Most: 3600, Default: "10m",
			Doc:    "How long a validation may run when it gives no time of its own.",
			Layers: person,
		},
		{
			Name: MaxFiles, Type: Whole, Least: 1, Most: 100e6, Default: "1000000",
			Doc:    "The most files and directories of one tree that a plan copies.",
			Layers: person,
		},
		{
			Name: Backend, Type: Choice, Values: []string{"auto", "bubblewrap", "landlock", "none"}, Default: "auto",
			Doc:    "What confines the programs of tools and validations; auto takes the strongest that works here. Where nothing does, and under none, a plan whose safety profile requires a sandbox is refused.",
			Layers: person,
		},
		{
			Name: Network, Type: Hosts, Default: "none",
			Doc:    "What the programs of new plans may reach where the action's safety profile does not say: none, any, or hosts with commas between them (example.org, *.example.org, example.org:8080, 192.0.2.1:5432; without a port 80 and 443). Some hosts only needs bubblewrap. A plan keeps what it was made with.",
			Layers: []Layer{User, Project, Env},
		},
		{
			Name: ReadOnly, Type: Paths, None: true, Default: None,
			Doc:    "Directories that confined programs may read besides the system's and the caches of tool chains, separated by colons. What is in them can be sent to no one by a program, but a model may read it.",
			Layers: person,
		},
		{
			Name: Memory, Type: Whole, Least: 64, Most: 16 << 20, Default: "8192",
			Doc:    "The most memory in MiB that a program with all it starts may hold.",
			Layers: person,
		},
		{
			Name: Processes, Type: Whole, Least: 8, Most: 1 << 20, Default: "1000",
			Doc:    "How many processes a program may have at a time.",
			Layers: person,
		},
		{
			Name: FileSize, Type: Whole, Least: 1, Most: 16 << 20, Default: "4096",
			Doc:    "The largest file in MiB that a program may write.",
			Layers: person,
		},
		{
			Name: Disk, Type: Whole, Least: 1, Most: 64 << 20, Default: "10240",
			Doc:    "By how many MiB a program may fill the disk that the sandbox is on.",
			Layers: person,
		},
		{
			Name: DefaultModel, Type: Word,
			Doc:    "The model that actors use which name none, as provider/model. Without it the program chooses: agents provider list --detect says which, and why.",
			Layers: person,
		},
	}
}
