package cli

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

	"reeve/embed"
	"reeve/server/manual"
)

// helpWidth is the number of columns of a topic's text.
const helpWidth = 92

// help prints a topic of the manual or the flags of a command, or the list of topics.
func (p *program) help() error {
	files, err := fs.Sub(embed.Manual, "manual")
	if err != nil {
		return err
	}

	topics, err := manual.Load(files)
	if err != nil {
		return err
	}
	if len(p.args) == 0 {
		_, err := fmt.Fprintf(p.out,
			"Topics of the manual, for `reeve help TOPIC`:\n\n%s\nCommands and flags: `reeve --help`\n", listOf(topics))
		return err
	}

	t := manual.Find(topics, p.args[0])
	if t == nil {
		if cmd, rest, err := p.root.Find(p.args); err == nil && len(rest) == 0 {
			return cmd.Help()
		}
		return fmt.Errorf("unknown topic %q; the topics are:\n\n%s", strings.Join(p.args, " "),
			strings.TrimRight(listOf(topics), "\n"))
	}

	_, err = io.WriteString(p.out, t.Text(helpWidth))
	return err
}

// listOf returns a line for each topic.
func listOf(topics []*manual.Topic) string {
	var list strings.Builder
	for _, t := range topics {
		fmt.Fprintf(&list, "  %-18s %s\n", t.Key, t.Title)
	}
	return list.String()
}
