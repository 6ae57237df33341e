package decode

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// At returns file:line of the key that path leads to in YAML text, or of the
// deepest part of the path that is there. A step into a list is its index from
// 0. It is for errors found after decoding, so the text is known to be sound.
func At(file string, data []byte, path ...string) string {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
		return file + ":1"
	}
	n, line := doc.Content[0], 1
	for _, key := range path {
		at, value := child(n, key)
		if value == nil {
			break
		}
		n, line = value, at
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// child returns the value under key and the line of the key itself.
func child(n *yaml.Node, key string) (line int, value *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i].Line, n.Content[i]
		}
		return 0, nil
	}
	if n.Kind != yaml.MappingNode {
		return 0, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line, n.Content[i+1]
		}
	}
	return 0, nil
}
