package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

const (
	maxSetupFile  = 2 << 20 // bytes
	maxSetupDepth = 32      // levels of tables and arrays
)

// readText reads a setup file. It may begin with a byte order mark.
func readText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // opened for reading only, so Close loses nothing
	text, err := io.ReadAll(io.LimitReader(file, maxSetupFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSetupFile {
		return nil, fmt.Errorf("%s has more than %d bytes: divide it, and apply the parts one after the other",
			path, maxSetupFile)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil
}

// checkValues returns an error for a value of TOML that JSON does not have, or not as TOML means it.
func checkValues(value any, at string, depth int) error {
	fault := func(text string) error { return fmt.Errorf("%s: %s", place(at), text) }
	if depth > maxSetupDepth {
		return fault(fmt.Sprintf("is nested deeper than %d levels", maxSetupDepth))
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if err := checkValues(inner, strings.TrimPrefix(at+"."+name, "."), depth+1); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := checkValues(inner, fmt.Sprintf("%s[%d]", at, i), depth+1); err != nil {
				return err
			}
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fault("must be a finite number")
		}
	case time.Time:
		if !strings.HasSuffix(at, "_at") { // the fields that are times
			return fault("must not be a time; put a text in quotation marks")
		}
	case toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
		return fault("must not be a date; put a text in quotation marks, and give a time like 2030-12-31T23:59:59Z")
	}
	return nil
}

// place returns the place of a fault as a line of an error shows it.
func place(at string) string {
	const most = 200 // bytes
	if len(at) > most {
		at = strings.ToValidUTF8(at[:most], "") + "…"
	}
	return oneLine(at)
}

// checkSecrets returns an error for a secret in the file itself, and for one whose file can't have
// it.
func (f *setupFile) checkSecrets() error {
	for table := range generators {
		rows, _ := f.Values[table].(map[string]any)
		for key, row := range rows {
			row, _ := row.(map[string]any)
			if _, sent := row["secret"]; sent {
				return fmt.Errorf("%s: %s: a secret must not be in the file; give secret_file, to which it is written",
					f.path, place(table+"."+key+".secret"))
			}
			if path, sent := row["secret_file"]; sent && (path == "" || !isText(path)) {
				return fmt.Errorf("%s: %s: must be the path of a file", f.path, place(table+"."+key+".secret_file"))
			}
		}
	}
	return nil
}

func isText(value any) bool { _, is := value.(string); return is }

// checkShared returns an error if two objects have the same file of a secret, so that one of the
// secrets would be lost.
func checkShared(files []*setupFile) error {
	owners := map[string]string{}
	for _, f := range files {
		err := f.eachSecretFile(func(table, key, path string, _ map[string]any) error {
			whole, err := filepath.Abs(path)
			if err != nil {
				return err
			}
			if dir, err := filepath.EvalSymlinks(filepath.Dir(whole)); err == nil {
				whole = filepath.Join(dir, filepath.Base(whole))
			}
			if other := owners[whole]; other != "" {
				return fmt.Errorf("%s is the file of %s, too; each needs a file of its own", path, other)
			}
			owners[whole] = f.path + ": " + table + "." + key
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// named returns an error of the server about files with the path of the file, if there is one only.
func named(files []*setupFile, err error) error {
	var refused *apiError
	if len(files) == 1 && errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", files[0].path, err)
	}
	return err
}
