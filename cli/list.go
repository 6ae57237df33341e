package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usualLimit is how many rows a list has where nothing else is said.
const usualLimit = 30

// column is one field of the rows of a list: what is shown of it, and what
// --sort and --filter know it by.
type column[T any] struct {
	name  string
	value func(T) any           // a text, id, int, int64, float64 or bool
	draw  func(*printer, T) any // how people see it; nil is the value
	when  func(p *printer) bool // whether people see it; nil is always
	// spare columns go where the terminal is too narrow. One that tells things
	// apart goes only where its value is the same in all rows.
	spare, apart bool
	// note is a last column that goes below its row where it does not fit beside.
	note bool
}

// onWide shows a column with --wide only; never is for --sort and --filter only.
func onWide(p *printer) bool { return p.wide }

// onTerminal shows a column in rich, too.
func onTerminal(p *printer) bool { return p.wide || p.format == Rich }
func never(*printer) bool        { return false }

// id is the value of a column that holds an id: --filter takes its short form
// too.
type id string

// list is what all list commands share: --limit, --sort, --filter and --all, and
// the table. The rows come from the operation in its own order; the list is
// filtered, then sorted, then cut.
type list[T any] struct {
	columns []column[T]
	limit   int
	sort    string
	filters []string
	all     bool

	unlimited bool
	field     *column[T] // of --sort
	down      bool
	want      map[string][]string
}

// bind adds the flags; all says what --all shows besides every row, such as "the
// archived ones too".
func (l *list[T]) bind(cmd *cobra.Command, all string) {
	f := cmd.Flags()
	f.IntVar(&l.limit, "limit", usualLimit, "at most so many")
	f.StringVar(&l.sort, "sort", "", "by this `field`; -field is downwards: "+l.names())
	f.StringArrayVar(&l.filters, "filter", nil, "only where `field=value`; repeatable: all fields, any value of one")
	if all != "" {
		all = ", " + all
	}
	f.BoolVar(&l.all, "all", false, "without a limit"+all)
	for flag, end := range map[string]string{"sort": "", "filter": "="} {
		var words []string
		for _, c := range l.columns {
			words = append(words, c.name+end)
		}
		// It fails only for a flag that has candidates already.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	}
}

func (l *list[T]) names() string {
	var names []string
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// check reads the flags before anything is asked, and refuses a field that the
// list does not have.
func (l *list[T]) check(cmd *cobra.Command) error {
	command := cmd.CommandPath()
	if l.limit < 1 {
		return usage(command, "--limit %d is less than 1", l.limit)
	}
	l.unlimited = l.all && !cmd.Flags().Changed("limit")
	if name, down := strings.CutPrefix(l.sort, "-"); l.sort != "" {
		if l.field, l.down = l.column(name), down; l.field == nil {
			return usage(command, "--sort %s: there is no such field; known are %s", name, l.names())
		}
	}
	l.want = map[string][]string{}
	for _, f := range l.filters {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return usage(command, "--filter %q is not field=value", f)
		}
		if l.column(name) == nil {
			return usage(command, "--filter %s: there is no such field; known are %s", name, l.names())
		}
		l.want[name] = append(l.want[name], value)
	}
	return nil
}

func (l *list[T]) column(name string) *column[T] {
	for i := range l.columns {
		if l.columns[i].name == name {
			return &l.columns[i]
		}
	}
	return nil
}

// ask is how many rows the operation needs to give, in its own order: one more
// than are shown, to know whether there are more; 0 is all of them.
func (l *list[T]) ask() int {
	if l.unlimited || l.field != nil || len(l.want) > 0 {
		return 0
	}
	return l.limit + 1
}

// take returns the rows that were asked for, and what to tell about others. A
// list of nothing stays an empty list.
func (l *list[T]) take(rows []T) (kept []T, warnings []string) {
	kept = []T{}
	for _, r := range rows {
		if l.wanted(r) {
			kept = append(kept, r)
		}
	}
	if l.field != nil {
		slices.SortStableFunc(kept, func(a, b T) int {
			if l.down {
				a, b = b, a
			}
			return compare(l.field.value(a), l.field.value(b))
		})
	}
	if l.unlimited || len(kept) <= l.limit {
		return kept, nil
	}
	more := fmt.Sprintf("there are more than %d; --limit or --all shows them", l.limit)
	if l.ask() == 0 {
		more = fmt.Sprintf("%d of %d are shown; --limit or --all shows more", l.limit, len(kept))
	}
	return kept[:l.limit], []string{more}
}

func (l *list[T]) wanted(row T) bool {
	for name, values := range l.want {
		v := l.column(name).value(row)
		is := func(want string) bool {
			i, short := v.(id)
			return fmt.Sprint(v) == want || short && shortID(i) == strings.ToUpper(want)
		}
		if !slices.ContainsFunc(values, is) {
			return false
		}
	}
	return true
}

// compare orders two values of one column: numbers by size, false before true,
// all else by its text.
func compare(a, b any) int {
	switch x := a.(type) {
	case int:
		y, _ := b.(int)
		return cmp.Compare(x, y)
	case int64:
		y, _ := b.(int64)
		return cmp.Compare(x, y)
	case float64:
		y, _ := b.(float64)
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// table draws the rows. Where they do not fit the terminal, columns that can be
// spared go, the last of them first.
func (l *list[T]) table(p *printer, rows []T) {
	var shown []column[T]
	for _, c := range l.columns {
		if c.when == nil || c.when(p) {
			shown = append(shown, c)
		}
	}
	header, cells := drawn(p, shown, rows)
	note := shown[len(shown)-1].note
	for i := len(shown) - 1; i >= 0 && p.format != Plain && !p.fits(header, cells, beside(shown), wordsWidth); i-- {
		if shown[i].spare && (!shown[i].apart || same(shown[i], rows)) {
			shown = slices.Delete(shown, i, i+1)
			header, cells = drawn(p, shown, rows)
		}
	}
	if note {
		p.noted(header, cells)
		return
	}
	p.rows(header, cells)
}

// wordsWidth is how much room a column of sentences wants at least.
const wordsWidth = 40

// beside is how many columns stand beside each other.
func beside[T any](shown []column[T]) int {
	if shown[len(shown)-1].note {
		return len(shown) - 1
	}
	return len(shown)
}

// same reports whether a column has one value in all rows.
func same[T any](c column[T], rows []T) bool {
	return !slices.ContainsFunc(rows, func(r T) bool { return c.value(r) != c.value(rows[0]) })
}

// drawn is the text of the columns.
func drawn[T any](p *printer, shown []column[T], rows []T) (header []string, out [][]any) {
	for _, c := range shown {
		header = append(header, c.name)
	}
	for _, r := range rows {
		var cells []any
		for _, c := range shown {
			v := c.value(r)
			if i, ok := v.(id); ok {
				v = p.id(i)
			}
			if c.draw != nil {
				v = c.draw(p, r)
			}
			cells = append(cells, v)
		}
		out = append(out, cells)
	}
	return header, out
}

// id is an id as people see it: its end, or the whole of it with --wide.
func (p *printer) id(i id) safe {
	if p.wide {
		return p.bold(string(i))
	}
	return p.bold(shortID(i))
}
