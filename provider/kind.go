package provider

import "slices"

// Kind is what a provider speaks and how it wants to be paid for: it decides
// the address, the format of a call and where a key is looked for.
type Kind string

// The kinds.
const (
	Anthropic  Kind = "anthropic"
	OpenAI     Kind = "openai"
	Gemini     Kind = "gemini"
	Bedrock    Kind = "bedrock"
	Azure      Kind = "azure"
	OpenRouter Kind = "openrouter"
	Ollama     Kind = "ollama"
	Compatible Kind = "openai-compatible"
	Scripted   Kind = "scripted"
	Replay     Kind = "replay"
)

// The ways to call a provider of kind openai or azure.
const (
	Chat      = "chat"
	Responses = "responses"
)

// Info is what is known of a kind before anything is configured.
type Info struct {
	Kind    Kind
	BaseURL string // the address when none is configured; "" has to be configured
	// BaseURLEnv are environment variables that name another address, in order.
	BaseURLEnv []string
	KeyEnv     []string // environment variables that hold the key, in order
	RegionEnv  []string // environment variables that name the region, in order
	NeedsKey   bool     // a call without a key is refused, except on loopback
	Hosts      []string // hosts the variables of KeyEnv are meant for; ".x" is any host below x
	Network    bool     // calls leave the program
	Catalogue  string   // the name of the kind's list of models in llm/catalog; "" for none
}

// Kinds returns the table of the kinds, in the order in which a default is
// chosen among those that can be used.
func Kinds() []Info {
	return []Info{
		{
			Kind: Anthropic, BaseURL: "https://api.anthropic.com", BaseURLEnv: []string{"ANTHROPIC_BASE_URL"},
			KeyEnv: []string{"ANTHROPIC_API_KEY"}, NeedsKey: true, Hosts: []string{"api.anthropic.com"}, Network: true, Catalogue: "anthropic",
		},
		{
			Kind: OpenAI, BaseURL: "https://api.openai.com/v1", BaseURLEnv: []string{"OPENAI_BASE_URL"},
			KeyEnv: []string{"OPENAI_API_KEY"}, NeedsKey: true, Hosts: []string{"api.openai.com"}, Network: true, Catalogue: "openai",
		},
		{
			Kind: Gemini, BaseURL: "https://generativelanguage.googleapis.com", BaseURLEnv: []string{"GOOGLE_GEMINI_BASE_URL"},
			KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, NeedsKey: true, Hosts: []string{"generativelanguage.googleapis.com"}, Network: true, Catalogue: "gemini",
		},
		{
			Kind: OpenRouter, BaseURL: "https://openrouter.ai/api/v1",
			KeyEnv: []string{"OPENROUTER_API_KEY"}, NeedsKey: true, Hosts: []string{"openrouter.ai"}, Network: true, Catalogue: "openrouter",
		},
		{
			Kind: Azure, BaseURLEnv: []string{"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_ENDPOINT"},
			KeyEnv: []string{"AZURE_OPENAI_API_KEY"}, NeedsKey: true, Hosts: []string{".azure.com", ".azure.us", ".azure.cn"}, Network: true, Catalogue: "azure",
		},
		{
			Kind:   Bedrock,
			KeyEnv: []string{"AWS_BEARER_TOKEN_BEDROCK"}, RegionEnv: []string{"AWS_REGION", "AWS_DEFAULT_REGION"},
			NeedsKey: true, Hosts: []string{".amazonaws.com", ".amazonaws.com.cn"}, Network: true, Catalogue: "bedrock",
		},
		{Kind: Ollama, BaseURL: "http://127.0.0.1:11434/v1", Network: true},
		{Kind: Compatible, Network: true},
		{Kind: Scripted},
		{Kind: Replay},
	}
}

// Info returns the row of k in the table of kinds.
func (k Kind) Info() (Info, bool) {
	all := Kinds()
	i := slices.IndexFunc(all, func(in Info) bool { return in.Kind == k })
	if i < 0 {
		return Info{}, false
	}
	return all[i], true
}

func kindNames() []string {
	var out []string
	for _, in := range Kinds() {
		out = append(out, string(in.Kind))
	}
	return out
}
