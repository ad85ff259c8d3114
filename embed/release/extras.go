package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"reeve/server/cli"
)

// extras are the files that go with the program.
type extras struct {
	license, notice, readme, config, compose, unit []byte

	bash, zsh, fish []byte            // completion scripts
	man             map[string][]byte // manual pages of section 1, by name
	manual          map[string][]byte // pages to which the README has links, and their pictures, by path
}

// writeExtras reads the texts of the checkout, and writes manual pages and completion scripts from
// the tree of commands.
func (r *release) writeExtras() error {
	for name, into := range map[string]*[]byte{
		"LICENSE":             &r.extra.license,
		"embed/NOTICE":        &r.extra.notice,
		"README.md":           &r.extra.readme,
		"config.example.toml": &r.extra.config,

		"embed/release/compose.yaml":        &r.extra.compose,
		"embed/release/files/reeve.service": &r.extra.unit,
	} {
		content, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		*into = content
	}

	for _, inArchive := range [][2]string{{"](embed/manual/", "](manual/"}, {"' go run .   #", "' ./reeve   #"}} {
		r.extra.readme = bytes.ReplaceAll(r.extra.readme, []byte(inArchive[0]), []byte(inArchive[1]))
	}
	r.extra.manual = map[string][]byte{}
	for _, from := range []string{"embed/manual", "docs"} {
		dir := filepath.Join(r.root, filepath.FromSlash(from))
		topics, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, topic := range topics {
			if topic.IsDir() {
				continue // an example, which is in the checkout
			}
			text, err := os.ReadFile(filepath.Join(dir, topic.Name()))
			if err != nil {
				return err
			}
			r.extra.manual[path.Base(from)+"/"+topic.Name()] = bytes.ReplaceAll(text, []byte("](../embed/manual/"), []byte("](../manual/"))
		}
	}

	root := cli.Tree(cli.Release{Version: r.version}, io.Discard, io.Discard)
	for _, c := range []struct {
		into  *[]byte
		write func(io.Writer) error
	}{
		{&r.extra.bash, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{&r.extra.zsh, root.GenZshCompletion},
		{&r.extra.fish, func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			return err
		}
		*c.into = b.Bytes()
	}

	r.extra.man = map[string][]byte{}
	return r.writeMan(root)
}

// writeMan writes the manual pages of a command and of those below it.
func (r *release) writeMan(cmd *cobra.Command) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	cmd.DisableAutoGenTag = true // it has the date of the build
	var b bytes.Buffer
	header := &doc.GenManHeader{
		Title:   strings.ToUpper(name),
		Section: "1",
		Date:    &r.at,
		Source:  "Reeve " + r.version,
		Manual:  "Reeve",
	}
	if err := doc.GenMan(cmd, header, &b); err != nil {
		return fmt.Errorf("manual page of %s: %w", name, err)
	}

	r.extra.man[name+".1"] = b.Bytes()
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := r.writeMan(c); err != nil {
			return err
		}
	}

	return nil
}
