package cli

import (
	"context"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

type providerAdd struct {
	app    *app
	config string
	update bool
	words  provider.Config
	kind   string
}

func newProviderAdd(a *app) *cobra.Command {
	o := &providerAdd{app: a}
	cmd := &cobra.Command{
		Use:   "add {--config <file> | <name> --kind <kind>}",
		Short: "Set a provider of models up",
		Long: `Set a provider of models up, from flags or a YAML file. The kinds are anthropic,
openai, gemini, bedrock, azure, openrouter, ollama and openai-compatible (llama.cpp,
vLLM, LM Studio and anything that speaks Chat Completions). Name where the key is,
never the key: --key-env, --key-file (mode 0600) or --keyring.`,
		Example: "  agents provider add llama --kind openai-compatible --base-url http://127.0.0.1:8080/v1\n" +
			"  agents provider add work --kind openai --key-env WORK_KEY --requests-per-minute 60",
		Annotations: does(a2a.ProviderAdd().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := o.source(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), src)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "f", "", "YAML file of the provider; - is standard input")
	f.StringVar(&o.kind, "kind", "", "what it speaks; see above")
	f.StringVar(&o.words.BaseURL, "base-url", "", "address (default: the kind's own)")
	f.StringVar(&o.words.API, "api", "", "chat or responses, of openai and azure")
	f.StringVar(&o.words.Region, "region", "", "of bedrock, such as us-east-1")
	f.StringVar(&o.words.KeyEnv, "key-env", "", "environment variable that holds the key")
	f.StringVar(&o.words.KeyFile, "key-file", "", "private file that holds the key")
	f.BoolVar(&o.words.KeyRing, "keyring", false, "the key is in the system's keyring")
	f.StringArrayVar(&o.words.Models, "model", nil, "a model that it has (again for more)")
	f.IntVar(&o.words.Limits.RequestsPerMinute, "requests-per-minute", 0, "at most so many calls")
	f.IntVar(&o.words.Limits.TokensPerMinute, "tokens-per-minute", 0, "at most so many tokens of requests")
	f.BoolVar(&o.words.Free, "free", false, "its models cost nothing")
	f.BoolVar(&o.words.Insecure, "insecure", false, "accept http to another machine")
	f.BoolVar(&o.update, "update", false, "replace a provider of that name")
	return cmd
}

func (o *providerAdd) source(cmd *cobra.Command, args []string) (a2a.ProviderSource, error) {
	if (o.config == "") == (len(args) == 0) {
		return a2a.ProviderSource{}, usage(cmd.CommandPath(), "give either --config <file> or a name with --kind")
	}
	if o.config != "" {
		text, err := o.app.read(o.config)
		return a2a.ProviderSource{File: o.config, Text: text, Update: o.update}, err
	}
	if o.kind == "" {
		return a2a.ProviderSource{}, usage(cmd.CommandPath(), "--kind is missing")
	}
	o.words.Name, o.words.Kind = args[0], provider.Kind(o.kind)
	text, err := yaml.Marshal(o.words)
	if err != nil {
		return a2a.ProviderSource{}, fault.New(fault.Internal, "write the provider as YAML: %w", err)
	}
	return a2a.ProviderSource{File: "flags", Text: string(text), Update: o.update}, nil
}

func (o *providerAdd) run(ctx context.Context, src a2a.ProviderSource) error {
	v, err := call(ctx, o.app, a2a.ProviderAdd(), src)
	if err != nil {
		return err
	}
	o.app.put(providerOutput(v))
	return nil
}
