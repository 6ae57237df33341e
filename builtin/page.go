package builtin

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

type pageArgs struct {
	Hash   string `json:"hash"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

const pageSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["hash"],
  "properties": {
    "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "the hash that the cut output named"},
    "offset": {"type": "integer", "minimum": 0, "description": "first byte to show"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 65536, "description": "how many bytes, 32768 when not given"}
  }
}`

func pageTool() entry { return looking("page", pageSchema, pageOutput) }

func pageOutput(_ context.Context, w *look, a pageArgs) (tool.Result, error) {
	if w.page == nil {
		return tool.Result{}, fault.New(fault.Unavailable, "earlier outputs are not kept here")
	}
	b, err := w.page(a.Hash)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Offset < 0 || a.Offset >= len(b) {
		return tool.Result{}, fault.New(fault.Invalid, "offset %d is after the end; the output has %d bytes", a.Offset, len(b))
	}
	limit := a.Limit
	if limit <= 0 {
		limit = maxOutput / 2
	}
	limit = min(limit, maxOutput, len(b)-a.Offset)
	from := runeStart(b, a.Offset)
	to := runeStart(b, a.Offset+limit)
	if to <= from { // less than one character was asked for
		to = a.Offset + limit
	}
	note := fmt.Sprintf("[bytes %d to %d of %d", from, to, len(b))
	if to < len(b) {
		note += fmt.Sprintf("; go on with offset=%d", to)
	}
	return done(valid(string(b[from:to])) + "\n" + note + "]")
}
