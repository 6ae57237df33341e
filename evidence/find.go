package evidence

import "unicode/utf8"

// find is where the parts of one value were found, and what that depended on.
type find struct {
	to    int      // the parts end here
	kind  int      // index of their kind
	next  int      // the search of that kind goes on here; -1 where there was no text to find
	reach int      // only so many values of that kind decided it; -1 is all of them, or it was not found
	spans int      // of all finds so far
	enc   Encoding // of the last span so far
}

// finder claims values for parts.
type finder struct {
	body   []byte
	format format
	vals   values
	cursor [len(values{})]int // index behind the last find of each kind
	finds  []find
	spans  []Span
	enc    Encoding // of the last span, "" before
	texts  *texts
	buf    []byte
}

// find claims the place of parts[from:to], which were composed into one value,
// and adds their spans; false when there is none.
func (f *finder) find(parts []Part, from, to int) bool {
	n := find{to: to, kind: parts[from].Kind.index(), next: -1}
	size, full, ok := 0, make([]Part, 0, to-from), true
	for _, p := range parts[from:to] {
		ok = ok && utf8.ValidString(p.Text) // no JSON string says another
		if p.Text == "" || f.leftOut(p) {
			continue
		}
		size += len(p.Text)
		full = append(full, p)
	}
	switch {
	case !ok:
		n.reach = -1
	case size > 0:
		f.search(&n, full, size)
	}
	n.spans, n.enc = len(f.spans), f.enc
	f.finds = append(f.finds, n)
	return ok && (size == 0 || n.next >= 0)
}

// leftOut reports whether p is nothing that its format would write: Gemini's
// has no member for the arguments of a call that has none.
func (f *finder) leftOut(p Part) bool {
	if f.format != ofContents || p.Kind != PartArguments {
		return false
	}
	c, _ := f.texts.canonical(p.Text)
	return c == "{}"
}

// search looks for full from the cursor on and round.
func (f *finder) search(n *find, full []Part, size int) {
	vals, start, number := f.vals[n.kind], f.cursor[n.kind], len(f.finds)+1
	n.reach = -1
	for i := range len(vals) {
		at := (start + i) % len(vals)
		v := &vals[at]
		took := 1
		switch {
		case v.by != 0 || v.only != anyFormat && v.only != f.format:
			continue
		case v.whole:
			if len(full) > 1 || !f.says(v, full[0]) {
				continue
			}
			f.claimWhole(v, full[0])
			v.by = number
		case len(v.text) == size && joins(v.text, full):
			f.claim(v, full)
			v.by = number
		case len(full) > 1 && f.each(vals[at:], full):
			for j := range full {
				f.claim(&vals[at+j], full[j:j+1])
				vals[at+j].by = number
			}
			took = len(full)
		default:
			continue
		}
		n.next = at + took
		f.cursor[n.kind] = n.next
		if start+i < len(vals) { // it did not go round
			// A run of values that each looked at in vain ends before the find: no
			// value is both one part and all of them.
			n.reach = n.next
		}
		return
	}
}

func joins(text []byte, parts []Part) bool {
	for _, p := range parts {
		if string(text[:len(p.Text)]) != p.Text {
			return false
		}
		text = text[len(p.Text):]
	}
	return true
}

// each reports whether vals begin with one value for each part.
func (f *finder) each(vals []value, parts []Part) bool {
	if len(vals) < len(parts) {
		return false
	}
	for i, p := range parts {
		v := &vals[i]
		if v.by != 0 || v.whole || v.only != anyFormat && v.only != f.format || string(v.text) != p.Text {
			return false
		}
	}
	return true
}

// claim adds the spans of parts that fill v.
func (f *finder) claim(v *value, parts []Part) {
	raw, from, at := f.body[v.from:v.to], v.from, 0
	for _, p := range parts {
		s := f.span(p, at, len(v.text))
		var n int
		s.Enc, n = encodingOf(raw, p.Text, f.enc, &f.buf)
		if s.Enc == EncodedRaw {
			s.Raw = string(raw[:n])
		} else {
			f.enc = s.Enc
		}
		s.From, s.To = from, from+n
		f.spans = append(f.spans, s)
		raw, from, at = raw[n:], s.To, at+len(p.Text)
	}
}

// claimWhole adds the span of a JSON value, which may be written in another
// way than its part.
func (f *finder) claimWhole(v *value, p Part) {
	s := f.span(p, 0, len(p.Text))
	s.From, s.To, s.Enc = v.from, v.to, EncodedText
	if string(v.text) != p.Text {
		s.Enc, s.Raw = EncodedRaw, string(v.text)
	}
	f.spans = append(f.spans, s)
}

// says reports whether v is the JSON value of p. The arguments of a call may
// have been read and written again, so that a number is as good in another
// notation; a schema keeps them as they are.
func (f *finder) says(v *value, p Part) bool {
	if string(v.text) == p.Text {
		return true
	}
	have, ok := f.texts.canonical(string(v.text))
	if !ok {
		return false
	}
	want, ok := f.texts.canonical(p.Text)
	return ok && (have == want || p.Kind == PartArguments && sameJSON(have, want))
}

func (f *finder) span(p Part, at, of int) Span {
	return Span{Kind: p.Kind, Role: p.Role, Slot: p.Slot, Origin: p.Origin, Reason: p.Reason, Blob: f.texts.hash(p.Text), At: at, Of: of}
}
