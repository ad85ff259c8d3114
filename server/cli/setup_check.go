package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"reeve/server/setup"
)

// readText reads a setup file.
func readText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // opened for reading only, so Close loses nothing
	text, err := io.ReadAll(io.LimitReader(file, setup.MaxBody+1))
	if err != nil {
		return nil, err
	}
	if len(text) > setup.MaxBody {
		return nil, fmt.Errorf("%s has more than %d bytes: divide it, and apply the parts one after the other",
			path, setup.MaxBody)
	}
	return text, nil
}

// checkShared returns an error if two objects have the same file of a secret, so that one of the
// secrets would be lost.
func checkShared(files []*setupFile) error {
	owners := map[string]string{}
	for _, f := range files {
		err := f.eachSecretFile(func(of setup.SecretTable, key, path string, _ map[string]any) error {
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
			owners[whole] = f.path + ": " + of.Name + "." + key
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// named returns an error of the server about files with the lines and, if there is one only, with the
// path of the file.
func named(files []*setupFile, err error) error {
	var refused *apiError
	if !errors.As(err, &refused) {
		return err
	}
	faults := map[string]string{}
	for at, fault := range refused.Errors {
		place := located(files, at)
		faults[place] = fault
		if rest, found := strings.CutPrefix(refused.Msg, at+": "); found {
			refused.Msg = place + ": " + rest
		}
	}
	if refused.Errors = faults; len(files) == 1 {
		err = fmt.Errorf("%s: %w", files[0].path, err)
	}
	return err
}

// located returns the place of a fault with its line. Among several files it begins with the name of
// one.
func located(files []*setupFile, at string) string {
	name, place, _ := strings.Cut(at, ": ")
	for _, f := range files {
		if len(files) == 1 {
			_, at = f.text.Line(at)
		} else if f.Name == name {
			_, place = f.text.Line(place)
			at = name + ": " + place
		}
	}
	return at
}
