package evidence

// texts remembers what was computed of the texts of one request, for the next
// one, which repeats most of them. The next one's remembers only what it used
// itself, so that nothing is kept for longer.
type texts struct {
	old    *texts // nil for none
	hashes map[string]string
	canon  map[string]string // "" where it is not JSON
	fresh  []Text            // those that the old one did not have
}

// Text is a text that a manifest names, and its name.
type Text struct {
	Blob string // SHA-256 of the text
	Text string
}

func newTexts(old *texts) *texts {
	return &texts{old: old, hashes: map[string]string{}, canon: map[string]string{}}
}

// stored lets go of what only the request itself needed.
func (t *texts) stored() { t.old, t.fresh = nil, nil }

func (t *texts) hash(text string) string {
	if h, ok := t.hashes[text]; ok {
		return h
	}
	h, ok := "", false
	if t.old != nil {
		h, ok = t.old.hashes[text]
	}
	if !ok {
		h = Hash([]byte(text))
		t.fresh = append(t.fresh, Text{h, text})
	}
	t.hashes[text] = h
	return h
}

func (t *texts) canonical(raw string) (c string, ok bool) {
	if c, ok = t.canon[raw]; ok {
		return c, c != ""
	}
	if t.old != nil {
		c, ok = t.old.canon[raw]
	}
	if !ok {
		b, valid := canonical([]byte(raw))
		if valid {
			c = string(b)
		}
	}
	t.canon[raw] = c
	return c, c != ""
}
