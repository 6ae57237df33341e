package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// topic is a page of help that belongs to no command.
type topic struct {
	name, short string
	text        func(width int) string
}

func topics() []topic {
	return []topic{
		{"lifecycle", "from an action to applied files", lifecycleText},
		{"exit-codes", "what each exit status means", exitText},
		{"formats", "how results are written", formatsText},
		{"lists", "sort, filter and cut any list", listsText},
		{"environment", "variables that are read", environmentText},
		{"profiles", "what goes ahead without a person", profilesText},
		{"names", "names, ids and their short forms", namesText},
		{"safety", "what the program does and does not protect", safetyText},
	}
}

// The variables that the command line reads.
const (
	envDataDir    = "AGENTS_DATA_DIR"
	envConfigFile = "AGENTS_CONFIG_FILE"
	envProject    = "AGENTS_PROJECT"
	envFormat     = "AGENTS_FORMAT"
	envProfile    = "AGENTS_PROFILE"
	envNoInput    = "AGENTS_NO_INPUT"
	envNoColor    = "NO_COLOR"
)

func environmentText(int) string {
	var b strings.Builder
	b.WriteString("A flag wins over its variable.\n\n")
	for _, v := range [][2]string{
		{envDataDir, "--data-dir"},
		{envConfigFile, "--config-file"},
		{envProject, "--project"},
		{envFormat, "--format"},
		{envProfile, "--automation-profile of plan use and run"},
		{envNoInput, "--no-input, unless it is 0 or false"},
		{envNoColor, "anything but empty: no colours"},
		{"AGENTS_LOG", "--log-level"},
		{"TERM", "dumb: no colours and no line that is written over"},
		{"VISUAL, EDITOR", "the editor of config edit"},
		{"AGENTS_CFG_…", "any key of the configuration: dots are __ and hyphens _,"},
		{"", "as in AGENTS_CFG_plan__max_cost=2.50"},
	} {
		fmt.Fprintf(&b, "%-20s %s\n", v[0], v[1])
	}
	return b.String()
}

func exitText(width int) string {
	why := map[int]string{
		0: "done", 1: "an error of the program or damaged data",
		2: "the command is written wrongly or a name is ambiguous", 3: "the named thing does not exist",
		4: "waiting for a person: approval, answer or paused", 5: "a required validation did not pass",
		6: "a guard, a budget or a limit forbids it", 7: "a conflict: merge, duplicate, cycle, busy or version",
		8: "a needed part or the sandbox is not available", 9: "cancelled", 10: "not authorised",
		11: "not implemented", 124: "the time of --timeout ran out", 130: "interrupted",
	}
	kinds := map[int][]string{0: {"-"}}
	exits := []int{0}
	for _, m := range fault.Table() {
		if kinds[m.Exit] == nil {
			exits = append(exits, m.Exit)
		}
		kinds[m.Exit] = append(kinds[m.Exit], m.Name)
	}
	slices.Sort(exits)
	var b strings.Builder
	for _, e := range exits {
		hang(&b, fmt.Sprintf("%3d  %s", e, why[e]), strings.Join(kinds[e], ", "), 60, width)
	}
	b.WriteString("\nThe last column is the code in JSON output where no finer one is given.\n")
	b.WriteString("Ctrl-C once pauses a running plan at its next safe point (4), twice gives it\nup (9).\n")
	return b.String()
}

func formatsText(int) string {
	return `--format chooses how a result is written on standard output.

rich    for a terminal: colours, trees, columns and text as wide as it is (the
        default there)
table   the same without colours; as wide as it needs in a pipe
plain   for pipes: one record a line, cells separated by tabs (the default
        there)
json    {"schema":"agents.plan.v1","data":…,"warnings":[],"next":[]}
yaml    the same as YAML
jsonl   one event a line while a plan runs; the last line is always
        {"type":"result","exit":n,"schema":…,"data":…}

Progress, questions and errors go to standard error. With json and yaml an error
is {"error":{"code":…,"message":…,"hint":…,"exit":n}}; with jsonl it is part of
the last line. Fields are added to a schema, never renamed.

--jq EXPRESSION and --template TEXT see what --format json prints, the envelope
too: --jq '.data.plans[].name'. They write texts as they are, null as an empty
line and all else as JSON. A bad expression is exit 2 before anything is done.
Templates are those of Go's text/template with join, pluck, truncate, timefmt,
tablerow and tablerender.

rich and table show the first 20 files of a long list and say how many more
there are; -v or --wide shows all, and --wide wraps nothing.

For people, control and direction characters in text from plans, models and
files are spelled out (such as \x1b); in JSON and YAML the values are unchanged.`
}

func profilesText(width int) string {
	var b strings.Builder
	b.WriteString("An automation profile has one threshold for each task: the confidence from\n" +
		"which it goes ahead without a person. 0 is always, 1 is never. While nothing\ncomputes a confidence it counts as 0. The profile is fixed at plan use, from the\nfirst that is set of: plan, action, project, global.\n\n")
	for _, p := range policy.Builtin() {
		hang(&b, p.Name, p.Description, 12, width)
	}
	const first, column = 20, 11
	all, fit := len(policy.Builtin()), max((width-first)/column, 1)
	parts := (all + fit - 1) / fit
	for some := range slices.Chunk(policy.Builtin(), (all+parts-1)/parts) {
		fmt.Fprintf(&b, "\n%-*s", first, "")
		for _, p := range some {
			fmt.Fprintf(&b, " %*s", column-1, p.Name)
		}
		b.WriteString("\n")
		for i, t := range policy.TaskNames() {
			fmt.Fprintf(&b, "%-*s", first, t.Alias)
			for _, p := range some {
				fmt.Fprintf(&b, " %*v", column-1, float64(p.Thresholds[i]))
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	for _, t := range policy.TaskNames() {
		hang(&b, t.Alias, fmt.Sprintf("%s (key in files: %s)", t.Meaning, t.Key), first+1, width)
	}
	return b.String()
}

func namesText(int) string {
	return `Actions, actors, projects and resources have names: [[server:]namespace/]name,
in small letters; without a namespace it is "local".

Plans, decisions, approvals, checkpoints and resources have ids of 26 letters.
Where an id is wanted, its end is enough (4 letters or more, when only one id
ends so): ids made together share their beginning. Lists show the last 8.

@last is the one of that kind that was touched last. A project can also be given
by its directory: -p . or -p /path. A file can be - for standard input.`
}

func lifecycleText(int) string {
	return `action      agents action create      what is to be done, and when it is done
   |        agents plan use           makes a plan of it, for a project
strategize  agents plan strategize    decides how, writes nothing
   |
execute     agents plan execute       does it in a copy, checks the outcome
   |        agents plan diff          what would change
apply       agents plan apply         brings the changes into the real files

"agents run <action>" goes through all of it as far as the profile allows. A
plan that stops says why and prints the command that goes on. "agents plan tree"
shows the decisions, "agents plan explain" one of them.

From another terminal, "agents plan watch" shows a plan that runs, "agents
plan prompt" says something to its model, and "agents plan pause" stops it at
the next safe point. One that failed goes on with "agents plan retry", which
does the failed step again, or "agents plan resume", which goes on from the
record. "agents status" shows all that runs and all that waits.`
}

func safetyText(int) string {
	return `Files are changed in a copy and reach the real tree in Apply only. Apply first
checks that nothing there changed since the copy was made; if something did, it
writes nothing and says which files. All changes land or none, whenever the
process dies; the next apply ends what was cut short. Files that run by
themselves (CI, hooks, new executable bits) need an approval of their own.

Approvals are bound to the hash of what was shown and can be used once. What a
guard denies stays denied. --yes answers questions of the command line, never an
approval.

Programs run in that copy only, without a network and without your home: under
bubblewrap, else under Landlock. "agents doctor" says what works here, and the
record of every run says what was used. Where nothing works, a plan whose safety
profile has require_sandbox is refused. Text from models and files is shown with
its control characters spelled out.`
}

func listsText(int) string {
	return `Every list command takes the same flags.

--filter field=value   only rows with that value; repeatable: all fields have to
                       fit, and of several values for one field any
--sort field           by that field; --sort -field is downwards
--limit n              at most so many rows, 30 where nothing is said
--all                  without a limit, and with what is otherwise left out:
                       archived plans, decided approvals
--wide                 whole ids, more columns, nothing wrapped or cut

The help of a list names its fields. Rows are filtered, then sorted, then cut;
a list that is cut says so on standard error, and in "warnings" of JSON.`
}
