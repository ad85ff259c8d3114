package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// flagKeys maps a flag to the configuration key that it sets.
var flagKeys = map[string]string{"data": "data.dir", "listen": "server.listen"}

// flags holds the flags, which every command accepts.
type flags struct {
	*flag.FlagSet
	config   string
	identity string
	head     string
}

func newFlags(cmd command) *flags {
	f := &flags{FlagSet: flag.NewFlagSet("reeve "+cmd.name, flag.ContinueOnError)}
	f.SetOutput(io.Discard) // main prints the error, once
	f.StringVar(&f.config, "config", "", "read this `file` instead of config.toml")
	f.String("data", "", "keep the data in this `directory` (data.dir)")
	f.String("listen", "", "listen on this `address` (server.listen)")
	f.StringVar(&f.identity, "identity", "",
		"restore: decrypt the backup with the age identities in this `file`")
	f.StringVar(&f.head, "head", "",
		"audit verify: the log must contain this entry, a `GENERATION:NUMBER:HASH` from a backup or the server's log")
	return f
}

// parse sets the flags and returns the other arguments. Unlike with flag.Parse, flags may
// also follow an argument.
func (f *flags) parse(args []string) (others []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return others, nil
		}
		others, args = append(others, f.Arg(0)), f.Args()[1:]
	}
}

// keys returns the values for the configuration, by key. It includes flags that are set
// to an empty value.
func (f *flags) keys() map[string]string {
	set := map[string]string{}
	f.Visit(func(given *flag.Flag) {
		if name := flagKeys[given.Name]; name != "" {
			set[name] = given.Value.String()
		}
	})
	return set
}

func usage(out io.Writer, f *flags) {
	fmt.Fprintln(out, "usage: reeve [command] [flags]")
	for _, c := range commands {
		fmt.Fprintf(out, "  %-22s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	fmt.Fprintln(out, "flags:")
	f.SetOutput(out)
	f.PrintDefaults()
}
