package scripted

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// Rules is a script as a YAML file says it: the first rule whose conditions
// all hold answers.
//
//	rules:
//	  - when: {turn: 1, last_tool: builtin/shell, last_result_contains: FAIL}
//	    let: {id: 'decision (\S+)'}
//	    reply:
//	      text: "One check fails."
//	      tool_calls:
//	        - {name: builtin/read, args: {path: price.sh, why: "${id}"}}
//
// Let captures words of the conversation: the first group of the regular
// expression in the newest message that it matches. Where it matches none, the
// rule does not apply. ${name} in the texts and arguments of the reply is what
// was captured.
type Rules struct {
	file  string
	rules []rule
}

type script struct {
	Rules []rule `yaml:"rules"`
}

type rule struct {
	When  when              `yaml:"when"`
	Let   map[string]string `yaml:"let"`
	Reply replyFile         `yaml:"reply"`

	let map[string]*regexp.Regexp
}

// when is a list of conditions; one that is not given always holds.
type when struct {
	Turn               *int     `yaml:"turn"`                 // answers given before
	MinTurn            int      `yaml:"min_turn"`             // at least so many
	SystemContains     string   `yaml:"system_contains"`      // in a system message
	UserContains       string   `yaml:"user_contains"`        // in any user message
	LastUserContains   string   `yaml:"last_user_contains"`   // in the last user message
	Contains           []string `yaml:"contains"`             // each of them in some message
	Lacks              []string `yaml:"lacks"`                // none of them in any message
	LastTool           string   `yaml:"last_tool"`            // a result of this tool came after the last answer
	LastResultContains string   `yaml:"last_result_contains"` // one of those results, of last_tool when given, has it
	LastResultLacks    string   `yaml:"last_result_lacks"`    // none of those results has it
	ToolOffered        string   `yaml:"tool_offered"`
	ToolNotOffered     string   `yaml:"tool_not_offered"`
}

type replyFile struct {
	Text       string            `yaml:"text"`
	Thinking   string            `yaml:"thinking"`
	ToolCalls  []callFile        `yaml:"tool_calls"`
	RepeatText *repeatFile       `yaml:"repeat_text"`
	Status     int               `yaml:"status"`
	Headers    map[string]string `yaml:"headers"`
	CutAt      *int              `yaml:"cut_at"`
	DelayMS    int               `yaml:"delay_ms"`
	Hang       bool              `yaml:"hang"`
	Usage      *usageFile        `yaml:"usage"`
	Stop       string            `yaml:"stop"`
}

type callFile struct {
	ID      string         `yaml:"id"`
	Name    string         `yaml:"name"`
	Args    map[string]any `yaml:"args"`
	RawArgs *string        `yaml:"raw_args"`
}

type repeatFile struct {
	Text  string `yaml:"text"`
	Bytes int64  `yaml:"bytes"`
}

type usageFile struct {
	Input  int64 `yaml:"input"`
	Output int64 `yaml:"output"`
}

// Parse reads a script. File is the name shown in errors, which are of kind
// Invalid.
func Parse(file string, data []byte) (*Rules, error) {
	var s script
	if err := decode.YAML(file, data, &s); err != nil {
		return nil, err
	}
	if len(s.Rules) == 0 {
		return nil, fault.New(fault.Invalid, "%s:1: a script needs at least one rule under rules", file)
	}
	for i := range s.Rules {
		if err := s.Rules[i].check(); err != nil {
			return nil, fault.New(fault.Invalid, "%s: rule %d: %w", file, i+1, err)
		}
	}
	return &Rules{file: file, rules: s.Rules}, nil
}

func (r *rule) check() error {
	r.let = map[string]*regexp.Regexp{}
	for name, expr := range r.Let {
		re, err := regexp.Compile(expr)
		if err != nil {
			return fmt.Errorf("let %s: %w", name, err)
		}
		if re.NumSubexp() < 1 {
			return fmt.Errorf("let %s: the expression needs a group, such as (\\S+)", name)
		}
		r.let[name] = re
	}
	p := r.Reply
	switch {
	case p.Status != 0 && (p.Status < 200 || p.Status > 599 || http.StatusText(p.Status) == ""):
		return fmt.Errorf("%d is not an HTTP status", p.Status)
	case p.DelayMS < 0, p.CutAt != nil && *p.CutAt < 0, p.RepeatText != nil && p.RepeatText.Bytes < 0:
		return fmt.Errorf("delay_ms, cut_at and bytes are not negative")
	case p.RepeatText != nil && p.RepeatText.Text == "":
		return fmt.Errorf("repeat_text needs a text")
	}
	for i, c := range p.ToolCalls {
		if c.Name == "" {
			return fmt.Errorf("tool call %d has no name", i+1)
		}
		if c.Args != nil && c.RawArgs != nil {
			return fmt.Errorf("tool call %d has both args and raw_args", i+1)
		}
		if c.Args != nil && len(encode(c.Args)) == 0 {
			return fmt.Errorf("the args of tool call %d cannot be said in JSON", i+1)
		}
	}
	return nil
}

// Reply answers with the first rule that applies.
func (s *Rules) Reply(r Request) (Reply, error) {
	for _, rule := range s.rules {
		if !rule.When.holds(r) {
			continue
		}
		if words, ok := rule.captured(r); ok {
			return rule.Reply.reply(words), nil
		}
	}
	last := "nothing"
	if n := len(r.Messages); n > 0 {
		m := r.Messages[n-1]
		last = fmt.Sprintf("a %s message: %.80q", m.Role, m.Text)
	}
	return Reply{}, fault.New(fault.NotFound, "%s: no rule applies to turn %d, after %s", s.file, r.Turn, last)
}

func (w when) holds(r Request) bool {
	lastUser, _ := r.Last("user")
	has := func(sub string) bool { return r.Contains("", sub) }
	lacks := func(sub string) bool { return !has(sub) }
	return (w.Turn == nil || *w.Turn == r.Turn) &&
		r.Turn >= w.MinTurn &&
		(w.SystemContains == "" || r.Contains("system", w.SystemContains)) &&
		(w.UserContains == "" || r.Contains("user", w.UserContains)) &&
		strings.Contains(lastUser.Text, w.LastUserContains) &&
		!slices.ContainsFunc(w.Contains, lacks) &&
		!slices.ContainsFunc(w.Lacks, has) &&
		(w.ToolOffered == "" || slices.Contains(r.Tools, llm.WireName(w.ToolOffered))) &&
		(w.ToolNotOffered == "" || !slices.Contains(r.Tools, llm.WireName(w.ToolNotOffered))) &&
		w.resultsHold(r.Results())
}

func (w when) resultsHold(results []Message) bool {
	if w.LastTool == "" && w.LastResultContains == "" && w.LastResultLacks == "" {
		return true
	}
	found := false
	for _, m := range results {
		if w.LastTool != "" && m.Tool != llm.WireName(w.LastTool) {
			continue
		}
		if w.LastResultLacks != "" && strings.Contains(m.Text, w.LastResultLacks) {
			return false
		}
		found = found || strings.Contains(m.Text, w.LastResultContains)
	}
	return found
}

// captured returns the words of let; ok is false when one is not there.
func (r rule) captured(req Request) (words []string, ok bool) {
	for name, re := range r.let {
		found := false
		for i := len(req.Messages) - 1; i >= 0 && !found; i-- {
			if m := re.FindStringSubmatch(req.Messages[i].Text); m != nil {
				words, found = append(words, "${"+name+"}", m[1]), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return words, true
}

func (p replyFile) reply(words []string) Reply {
	fill := strings.NewReplacer(words...)
	out := Reply{
		Text: fill.Replace(p.Text), Thinking: fill.Replace(p.Thinking), Status: p.Status, Headers: p.Headers,
		CutAt: p.CutAt, Delay: time.Duration(p.DelayMS) * time.Millisecond, Hang: p.Hang, Stop: p.Stop,
	}
	if p.RepeatText != nil {
		out.Repeat = &Repeat{Text: p.RepeatText.Text, Bytes: p.RepeatText.Bytes}
	}
	if p.Usage != nil {
		out.Usage = &Usage{Input: p.Usage.Input, Output: p.Usage.Output}
	}
	for _, c := range p.ToolCalls {
		call := ToolCall{ID: fill.Replace(c.ID), Name: llm.WireName(c.Name), Arguments: "{}"}
		switch {
		case c.RawArgs != nil:
			call.Arguments = fill.Replace(*c.RawArgs)
		case c.Args != nil:
			call.Arguments = string(encode(filled(c.Args, fill)))
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// filled replaces words in every text of v.
func filled(v any, fill *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return fill.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(v[i], fill)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = filled(v[k], fill)
		}
		return out
	}
	return v
}
