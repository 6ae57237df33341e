// Package catalog knows the models of the providers without asking anybody:
// what a token costs, how much text fits, what a model can do.
//
// The facts are those of charm.land/catwalk, put into one line a model by
// TestModelsFile (run "go generate"), which fails when the file is not what the
// module in go.mod gives. The table stays text: a question finds its line and
// reads that one alone, so the program starts without paying for 1,500 models
// and nothing is kept between two questions.
//
// It does not promise that a provider still asks these prices. What the table
// does not say is unknown and never counts as free. Prices that rise with the
// length of a prompt, of batches and of one-hour caches are not in it.
package catalog

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:generate env AGENTS_UPDATE=1 go test -count=1 -run TestModelsFile .

//go:embed models.tsv
var table string

// Provider is one section of the catalogue.
type Provider struct {
	ID      string
	Name    string // for people
	Type    string // how it is called: anthropic, openai, openai-compat, google, azure, bedrock, …
	BaseURL string // "" where the caller has to know it
	KeyEnv  string // the usual environment variable of the key; "" for none
	Large   string // the model to begin with
	Small   string // the model for small work
}

// Price is what a million tokens cost in US dollars.
type Price struct {
	USD   float64
	Known bool
}

// Prices are the prices of a model.
type Prices struct {
	Input, Output         Price
	CacheRead, CacheWrite Price // of input that is taken from, or put into, the provider's cache
}

// Model is one model of a provider.
type Model struct {
	ID          string
	Name        string // for people
	Prices      Prices
	Context     int64 // tokens of prompt and answer together
	MaxOutput   int64 // tokens of an answer that are asked for when nobody says
	CanReason   bool
	Attachments bool // it takes images
}

// Providers returns the providers in the order of their ids.
func Providers() []Provider {
	var out []Provider
	for rest := table; ; {
		_, after, ok := strings.Cut(rest, "\n@")
		if !ok {
			return out
		}
		line, _, _ := strings.Cut(after, "\n")
		out = append(out, header(line))
		rest = after
	}
}

// ProviderOf returns the provider of that id.
func ProviderOf(id string) (Provider, bool) {
	head, _, ok := section(id)
	if !ok {
		return Provider{}, false
	}
	return header(head), true
}

// Models returns the models of a provider in the order of their ids; none of
// an unknown one.
func Models(provider string) []Model {
	_, body, _ := section(provider)
	var out []Model
	for line := range strings.Lines(body) {
		out = append(out, row(strings.TrimSuffix(line, "\n")))
	}
	return out
}

// Lookup returns a model of a provider. A provider's answer may name the dated
// form of the model that was asked, or the other way round: where the name
// itself is not listed, the only one that differs by a date is found.
func Lookup(provider, model string) (Model, bool) {
	_, body, ok := section(provider)
	if !ok || model == "" || strings.ContainsAny(model, "\t\n") {
		return Model{}, false
	}
	return find(body, model)
}

func find(body, model string) (Model, bool) {
	if _, after, ok := strings.Cut("\n"+body, "\n"+model+"\t"); ok {
		line, _, _ := strings.Cut(after, "\n")
		return row(model + "\t" + line), true
	}
	var found Model
	for line := range strings.Lines(body) {
		id, _, _ := strings.Cut(line, "\t")
		if undated(id) != undated(model) || id != undated(id) && model != undated(model) {
			continue
		}
		if found.ID != "" {
			return Model{}, false
		}
		found = row(strings.TrimSuffix(line, "\n"))
	}
	return found, found.ID != ""
}

// undated takes a date off the end of a model's name: -20251001 or -2025-10-01.
func undated(id string) string {
	digits, dashes := 0, 0
	for i := len(id) - 1; i >= 0; i-- {
		switch c := id[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c != '-':
			return id
		case digits == 8 && (dashes == 0 || dashes == 2) && id[i+1:i+3] == "20":
			return id[:i]
		case dashes == 0 && digits == 2, dashes == 1 && digits == 4:
			dashes++
		default:
			return id
		}
	}
	return id
}

// section returns the first line and the other lines of a provider's part.
func section(id string) (head, body string, ok bool) {
	if id == "" || strings.ContainsAny(id, "\t\n") {
		return "", "", false
	}
	_, after, ok := strings.Cut(table, "\n@"+id+"\t")
	if !ok {
		return "", "", false
	}
	head, body, _ = strings.Cut(after, "\n")
	if end := strings.Index("\n"+body, "\n@"); end >= 0 {
		body = body[:end]
	}
	return id + "\t" + head, body, true
}

func header(line string) Provider {
	f := fields(line)
	return Provider{ID: f(0), Name: f(1), Type: f(2), BaseURL: f(3), KeyEnv: f(4), Large: f(5), Small: f(6)}
}

func row(line string) Model {
	f := fields(line)
	return Model{
		ID:          f(0),
		Prices:      Prices{Input: price(f(1)), Output: price(f(2)), CacheRead: price(f(3)), CacheWrite: price(f(4))},
		Context:     number(f(5)),
		MaxOutput:   number(f(6)),
		CanReason:   strings.Contains(f(7), "r"),
		Attachments: strings.Contains(f(7), "a"),
		Name:        f(8),
	}
}

func fields(line string) func(int) string {
	all := strings.Split(line, "\t")
	return func(i int) string {
		if i >= len(all) {
			return ""
		}
		return all[i]
	}
}

func price(s string) Price {
	v, err := strconv.ParseFloat(s, 64)
	return Price{v, err == nil}
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
