package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"reeve/store"
)

// InContainer reports whether this process runs in a container, where root is not
// the machine's and no other user reads the files.
func InContainer() bool { return inContainer("/", os.Getenv) }

func inContainer(root string, env func(string) string) bool {
	for _, name := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			return true
		}
	}
	if env("KUBERNETES_SERVICE_HOST") != "" {
		return true
	}
	groups, err := os.ReadFile(filepath.Join(root, "proc/1/cgroup"))
	if err != nil {
		return false // not Linux
	}
	for _, part := range []string{"docker", "kubepods", "containerd", "libpod", "lxc"} {
		if strings.Contains(string(groups), part) {
			return true
		}
	}
	return false
}

// InstallationWarnings are what is wrong with how the program is installed, for its
// log at the start.
func (c *Config) InstallationWarnings(dataDir string) []string {
	var warnings []string
	if c.Root {
		warnings = append(warnings, "running as root: make a user of its own for Reeve, who owns the data directory, and run it as that user")
	}
	exposed, err := c.exposed(dataDir)
	if err != nil {
		warnings = append(warnings, "the permissions of the data and the configuration could not be checked: "+err.Error())
	}
	if len(exposed) > 0 {
		warnings = append(warnings, exposedText(exposed))
	}
	return warnings
}

// exposed lists the files that other users of the machine may read.
func (c *Config) exposed(dataDir string) ([]string, error) {
	data, err1 := store.ExposedData(dataDir)
	files, err2 := store.Exposed(c.PrivateFiles...)
	return append(data, files...), errors.Join(err1, err2)
}

func exposedText(exposed []string) string {
	const shown = 5
	list := strings.Join(exposed[:min(len(exposed), shown)], ", ")
	if more := len(exposed) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "other users of this machine may read or change " + list + ": run `chmod go=` on them"
}

// permissionsHealth reports whether other users of the machine may read the data. That
// the program runs as root is said, and is a decision of whoever installed it.
func (s *Server) permissionsHealth() part {
	exposed, err := s.config.exposed(s.db.Dir())
	if err != nil {
		return s.unknownPart("permissions", err)
	}
	p := part{Name: "permissions", State: healthy, Text: "data and configuration are private", Figures: map[string]int64{"exposed": int64(len(exposed)), "root": 0}}
	if s.config.Root {
		p.Text += "; running as root: a user of its own is safer"
		p.Figures["root"] = 1
	}
	if len(exposed) > 0 {
		p.State, p.Text = degraded, exposedText(exposed)
	}
	return p
}
