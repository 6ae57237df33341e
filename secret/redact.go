package secret

import (
	"io"
	"sync"
	"sync/atomic"
)

// Redactor replaces known keys in text by [redacted NAME]: as they are, and as
// a URL, JSON or base64 spells them (forms). A key inside longer base64 text is
// found too; one or two letters at either end of it may stay. Keys of fewer
// than MinRedacted bytes are left alone: what local servers take for a key is
// often a word.
//
// Where two keys overlap, all of both goes. No key is in the result, provided
// that keys hold no brackets, as none does. It is safe for use by several
// goroutines.
type Redactor struct {
	mu    sync.Mutex
	known []Key
	table atomic.Pointer[table]
}

// MinRedacted is the length of the shortest key that is replaced.
const MinRedacted = 8

// NewRedactor returns a redactor of the keys.
func NewRedactor(keys ...Key) *Redactor {
	r := &Redactor{}
	r.Add(keys...)
	return r
}

// Add makes more keys known, also to the writers that were made before.
func (r *Redactor) Add(keys ...Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = append(r.known, keys...)
	r.table.Store(newTable(r.known))
}

// Text returns s without the keys.
func (r *Redactor) Text(s string) string {
	t := r.table.Load()
	if !t.touches(s) {
		return s
	}
	out, _, _ := t.scan([]byte(s), 0, true)
	return string(out)
}

// Writer returns a writer that passes text on to w without the keys, however
// they are cut over several calls. It holds back an end that may be the
// beginning of a key, never more than the longest key and its encodings; Close
// passes on what is held back. It is for one goroutine, and does not close w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{to: w, from: r} }

// Writer is made by Redactor.Writer.
type Writer struct {
	to    io.Writer
	from  *Redactor
	held  []byte
	cover int // bytes of held that belong to a key that was already replaced
}

// Write passes p on as far as it is decided. It reports all of p as written
// unless the underlying writer fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	if err := w.pass(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what was held back.
func (w *Writer) Close() error { return w.pass(true) }

func (w *Writer) pass(final bool) error {
	out, used, cover := w.from.table.Load().scan(w.held, w.cover, final)
	w.held, w.cover = append(w.held[:0], w.held[used:]...), cover
	if len(out) == 0 {
		return nil
	}
	_, err := w.to.Write(out)
	return err
}
