package cli

import (
	"context"
	"io"
	"path"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type sessionExport struct {
	app  *app
	file string
	req  a2a.SessionExportRequest
	made NewFile
}

func newSessionExport(a *app) *cobra.Command {
	o := &sessionExport{app: a}
	cmd := &cobra.Command{
		Use:   "export [<session>]",
		Short: "Write a conversation as one file",
		Long: `Write a conversation as one file: lines of JSON with a hash of each message and of all
of them. Its plans are not in it; "agents plan export" writes those. A file that is
there is not overwritten.`,
		Example:     "  agents session export parser\n  agents session export @last -o talk.jsonl",
		Annotations: does(a2a.SessionExport().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = refOr(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write to this file (default: the session's name with .jsonl)")
	return cmd
}

func (o *sessionExport) run(ctx context.Context) error {
	o.req.To = o.open
	v, err := call(ctx, o.app, a2a.SessionExport(), o.req)
	if o.made != nil {
		if err != nil {
			o.made.Discard()
		} else if cerr := o.made.Close(); cerr != nil {
			return fault.New(fault.Internal, "write %s: %w", o.file, cerr)
		}
	}
	if err != nil {
		return err
	}
	v.File, v.Session.Next = o.file, nil
	o.app.put(carriedOutput("agents.session-export.v1", v))
	return nil
}

// carriedOutput is a conversation that went into a file or came out of one.
func carriedOutput(schema string, v a2a.SessionCarryView) output {
	return output{schema: schema, data: v, next: v.Session.Next, human: func(p *printer) {
		sessionLines(p, v.Session)
		p.field("file", v.File)
	}}
}

// open makes the file once the session is known.
func (o *sessionExport) open(s a2a.SessionSummary) (io.Writer, error) {
	if o.file == "" {
		o.file = path.Base(s.Name) + ".jsonl"
	}
	if o.app.env.Create == nil {
		return nil, fault.New(fault.Unavailable, "no file can be written here")
	}
	f, err := o.app.env.Create(o.app.abs(o.file))
	if err != nil {
		return nil, err
	}
	o.made = f
	return f, nil
}
