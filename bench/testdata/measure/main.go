// Command measure times whole processes side by side, and writes tables into a
// document.
//
//	measure -n 50 [-into FILE -table NAME] LABEL=COMMAND ...
//	measure -into FILE -table NAME -text < TEXT
//
// The commands are run in turns (a b c a b c …), so that what else the machine
// does falls on all of them; the first is what the others are compared with. A
// COMMAND is split at blanks and started without a shell; its output is dropped
// and it has to succeed. With -into the table replaces what stands in the file
// between "<!-- NAME -->" and "<!-- /NAME -->".
//
// It is small on purpose: Linux counts the memory of the parent at the moment
// of a start towards the peak of the child, so it is the floor of column RSS.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	n := flag.Int("n", 50, "runs of each command")
	into := flag.String("into", "", "document to rewrite")
	table := flag.String("table", "", "name of the table in the document")
	text := flag.Bool("text", false, "the table is the standard input")
	flag.Parse()
	if err := run(*n, *into, *table, *text, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(n int, into, table string, text bool, args []string) error {
	var out []byte
	if text {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		out = b
	} else {
		cs, err := commands(args)
		if err != nil {
			return err
		}
		for range n {
			for i := range cs {
				if err := cs[i].once(); err != nil {
					return err
				}
			}
		}
		out = render(cs, n)
		os.Stdout.Write(out)
	}
	if into == "" {
		return nil
	}
	return replace(into, table, out)
}

// command is one line of the table.
type command struct {
	label string
	argv  []string
	wall  []time.Duration
	cpu   []time.Duration
	rss   []int64 // KiB
}

func commands(args []string) ([]command, error) {
	var cs []command
	for _, a := range args {
		label, line, ok := strings.Cut(a, "=")
		argv := strings.Fields(line)
		if !ok || len(argv) == 0 {
			return nil, fmt.Errorf("%q is not LABEL=COMMAND", a)
		}
		cs = append(cs, command{label: label, argv: argv})
	}
	if len(cs) == 0 {
		return nil, fmt.Errorf("no command was given")
	}
	return cs, nil
}

func (c *command) once() error {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.argv, " "), err, complaint.Bytes())
	}
	c.wall = append(c.wall, took)
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss = append(c.rss, u.Maxrss)
	}
	return nil
}

func render(cs []command, n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "| %d runs each, in turns | min ms | median ms | CPU ms, median | peak RSS MiB | median ÷ first |\n|---|---|---|---|---|---|\n", n)
	first := middle(cs[0].wall)
	for _, c := range cs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.1f | %.2f |\n", c.label, ms(slices.Min(c.wall)), ms(middle(c.wall)), ms(middle(c.cpu)),
			float64(slices.Max(c.rss))/1024, float64(middle(c.wall))/float64(first))
	}
	return b.Bytes()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func middle(ds []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(ds))
	return s[len(s)/2]
}

func replace(file, table string, text []byte) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, to := []byte("<!-- "+table+" -->\n"), []byte("<!-- /"+table+" -->")
	i, j := bytes.Index(old, from), bytes.Index(old, to)
	if table == "" || i < 0 || j < i {
		return fmt.Errorf("%s has no table %q", file, table)
	}
	i += len(from)
	return os.WriteFile(file, slices.Concat(old[:i], bytes.TrimRight(text, "\n"), []byte("\n"), old[j:]), 0o644)
}
