package ops

import (
	"os"
	"path/filepath"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// InContainer reports whether this process runs in a container, where root is not root
// of the machine and no other user can read the files.
func InContainer() bool { return DetectContainer("/", os.Getenv) }

func DetectContainer(root string, env func(string) string) bool {
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

// InstallationWarnings returns problems of the installation, to log at start.
func InstallationWarnings(c *web.Config, dataDir string) []string {
	var warnings []string
	if c.Root {
		warnings = append(warnings,
			"running as root: create a dedicated user that owns the data directory, and run Reeve as that user")
	}
	exposed, err := exposedFiles(c, dataDir)
	if err != nil {
		warnings = append(warnings,
			"the permissions of the data and the configuration could not be checked: "+err.Error())
	}
	if len(exposed) > 0 {
		warnings = append(warnings, exposedText(exposed).String())
	}
	return warnings
}

// exposedFiles returns the files that other users of the machine can read.
func exposedFiles(c *web.Config, dataDir string) ([]string, error) {
	return store.ExposedData(dataDir, c.PrivateFiles...)
}

func exposedText(exposed []string) errs.Message {
	const shown = 5
	list := errs.Say("%s", strings.Join(exposed[:min(len(exposed), shown)], ", "))
	if more := len(exposed) - shown; more > 0 {
		list = errs.Say("%s and %d more", list, more)
	}
	return errs.Say("other users of this machine may read or change %s: run `chmod go=` on them",
		list)
}

// PermissionsHealth reports whether other users of the machine can read the data. It
// mentions that the program runs as root, but that is a decision of the operator and
// not a fault.
func PermissionsHealth(s *web.Server) web.Part {
	exposed, err := exposedFiles(s.Now(), s.DB.Dir())
	if err != nil {
		return s.UnknownPart("permissions", err)
	}

	p := web.Part{
		Name:    "permissions",
		State:   web.Healthy,
		Message: errs.Say("data and configuration are private"),
		Figures: map[string]int64{"exposed": int64(len(exposed)), "root": 0},
	}
	if s.Config.Root {
		p.Message = errs.Say("data and configuration are private; running as root: a dedicated user is safer")
		p.Figures["root"] = 1
	}
	if len(exposed) > 0 {
		p.State, p.Message = web.Degraded, exposedText(exposed)
	}

	return p
}
