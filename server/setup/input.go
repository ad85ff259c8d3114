package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// filesIn is the input of a plan and of applying it.
type filesIn struct {
	Files []fileIn    `json:"files" check:"required,min=1,max=100"`
	Prune *store.Flag `json:"prune" doc:"1 to delete the objects that these files have created and no longer have"`
}

// prunes reports whether objects that the files no longer have are deleted.
func (in *filesIn) prunes() bool { return in.Prune != nil && bool(*in.Prune) }

type fileIn struct {
	Name   string         `json:"name" check:"required,max=64" doc:"Name of the file, which owns the objects that it creates"`
	Values map[string]any `json:"values" doc:"Content of the file; see GET /setup.schema.json. Either this or text is required"`
	Text   *string        `json:"text" check:"raw,max=524288" doc:"Text of the file, in TOML, of at most 512 KiB. New API keys and webhooks get a secret, which the response has. Other secrets can't be referred to"`
}

// given are the files of a request.
type given struct {
	*filesIn
	texts map[string]*Text // those that were sent as text, by name
}

// read reads the texts of files, once it is known that the caller may send them.
func read(req *web.Request, files *filesIn) (*given, error) {
	if err := req.DB.View(req.Actor, requireOwner); err != nil {
		return nil, err
	}
	in := &given{files, map[string]*Text{}}
	faults, count := errs.Faults{}, 0
	for i := range in.Files {
		f, at := &in.Files[i], fmt.Sprintf("files[%d].", i)
		switch {
		case f.Text == nil && f.Values == nil:
			faults.Add(at+"values", "is required")
		case f.Text != nil && f.Values != nil:
			faults.Add(at+"text", "must be absent if there are values")
		case f.Text != nil:
			if err := in.parse(req, f); faults.Merge(err) != nil {
				return nil, err
			}
			if t := in.texts[f.Name]; t != nil {
				count += t.count
			}
		}
	}
	if count > web.MaxValues {
		return nil, errs.New(errs.Malformed, "the body must have at most %d values", web.MaxValues)
	}
	return in, faults.Err(errs.Invalid)
}

// parse reads the text of a file.
func (in *given) parse(req *web.Request, f *fileIn) error {
	done, err := req.TextTurn(len(*f.Text))
	if err != nil {
		return err
	}
	defer done()
	t, err := Parse([]byte(*f.Text), web.MaxValues)
	if err == nil {
		err = t.Resolve(func(reference string) (string, error) {
			if reference == "unset" {
				return reference, nil
			}
			return "", errs.New(errs.Invalid, `only the command reads secrets; give "unset", and set the secret afterwards`)
		})
	}
	if err == nil {
		err = t.EachSecret(func(of SecretTable, _ string, row map[string]any) error {
			row["secret"] = map[string]any{"secret": of.New()}
			return nil
		})
	}
	if t != nil {
		in.texts[f.Name] = t
	}
	if err != nil {
		return in.prefixed(f, t.Located(err))
	}

	values, err := json.Marshal(t.Values)
	if err == nil {
		f.Values, _ = decoded(values).(map[string]any)
	}
	return err
}

// prefixed returns an error of a file with its name, if there are several.
func (in *given) prefixed(f *fileIn, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) || len(in.Files) == 1 {
		return err
	}
	faults := errs.Faults{}
	for at, fault := range e.Fields {
		faults.Add(f.Name+": "+at, "%s", fault)
	}
	if len(e.Fields) == 0 {
		faults.Add(f.Name, "%s", e)
	}
	return faults.Err(e.Kind)
}

// located returns an error about places in files with their lines, as far as these were sent as text.
func (in *given) located(err error) error {
	if len(in.texts) == 0 {
		return err
	}
	return located(err, func(at string) (int, string) {
		file, place, several := strings.Cut(at, ": ")
		if several = several && len(in.Files) > 1; !several {
			file, place = in.Files[0].Name, at
		}
		t := in.texts[file]
		if t == nil {
			return 0, at
		}
		line, place := t.Line(place)
		if several {
			place = file + ": " + place
		}
		return line, place
	})
}

// applied returns what a plan has changed, with the secrets that were made here.
func (in *given) applied(plan *Plan, job *store.Job) *Applied {
	out := &Applied{Plan: *plan, Job: job}
	kinds := map[string]bool{}
	for _, of := range SecretTables() {
		kinds[of.Kind] = true
	}
	for _, c := range plan.Changes {
		if c.Operation != "create" || !kinds[c.Kind] || in.texts[c.want.Owner] == nil {
			continue
		}
		if secret, is := secretOf(c.want.Fields["secret"]); is {
			out.Secrets = append(out.Secrets, NewSecret{c.Kind, c.Key, secret})
		}
	}
	return out
}
