package evidence

import "slices"

// format is a provider's shape of a request, told by a member of its root.
type format uint8

// The formats. Places that only one of them has hold nothing in the others.
const (
	anyFormat format = iota
	ofMessages
	ofResponses
	ofContents
)

// formatOf tells the format by the names of the root's members.
func formatOf(names []string) format {
	switch {
	case slices.Contains(names, "messages"): // OpenAI's Chat Completions, Anthropic's Messages
		return ofMessages
	case slices.Contains(names, "input"): // OpenAI's Responses
		return ofResponses
	case slices.Contains(names, "contents"): // Google's Gemini
		return ofContents
	}
	return anyFormat
}

// place returns what kind of part may stand at the next value, "" for none,
// and the format in which it may. Most places have a key of their own; where
// other things have the same key the whole path has to fit.
func (s *scanner) place() (PartKind, format) {
	if s.at("contents", "parts", "functionResponse", "response", "") {
		return PartText, ofContents // an object of any shape: all of it is for the model to read
	}
	switch s.key() {
	case "content":
		return PartText, anyFormat
	case "text":
		if s.at("input", "summary", "text") {
			return PartThinking, ofResponses
		}
		return PartText, anyFormat
	case "reasoning_content", "reasoning", "thinking":
		return PartThinking, anyFormat
	case "arguments":
		return PartArguments, anyFormat
	case "description":
		return PartDescription, anyFormat
	case "parameters", "input_schema", "parametersJsonSchema":
		return PartSchema, anyFormat
	case "system":
		if s.at("system") {
			return PartText, ofMessages
		}
	case "instructions":
		if s.at("instructions") {
			return PartText, ofResponses
		}
	case "input":
		if s.at("messages", "content", "input") {
			return PartArguments, ofMessages
		}
		if s.at("input") {
			return PartText, ofResponses
		}
	case "output":
		if s.at("input", "output") {
			return PartText, ofResponses
		}
	case "args":
		if s.at("contents", "parts", "functionCall", "args") {
			return PartArguments, ofContents
		}
	}
	return "", anyFormat
}

// at reports whether the keys from the root to the next value are these;
// arrays have none. A last key of "" stands for one or more of any name.
func (s *scanner) at(keys ...string) bool {
	n := 0
	for _, l := range s.stack {
		if !l.object {
			continue
		}
		if n < len(keys) && keys[n] == "" {
			return true
		}
		if n == len(keys) || l.key != keys[n] {
			return false
		}
		n++
	}
	return n == len(keys)
}
