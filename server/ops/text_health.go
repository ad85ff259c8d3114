package ops

import (
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// maxClashes is the number of groups of records that health names, and of records in each.
const maxClashes = 10

// TextHealth reports records with unique texts that read the same, which an update of the program
// has found.
func TextHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "texts",
		State:   web.Healthy,
		Message: errs.Say("no unique names and addresses read the same"),
		Figures: map[string]int64{},
	}

	var named []string
	err := s.DB.View(store.Anonymous, func(tx *store.Tx) error {
		clashes, all, err := store.Clashes(tx, maxClashes)
		p.Figures["clashes"] = int64(len(clashes))
		for i, c := range clashes {
			if i == maxClashes {
				named = append(named, "…")
				break
			}
			ids := make([]string, len(c.IDs))
			for i, id := range c.IDs {
				ids[i] = id.String()
			}
			named = append(named,
				strings.ReplaceAll(c.Collection, "_", " ")+" "+strings.Join(ids, ", ")+" ("+c.Field+")")
		}

		if !all {
			named = append(named, "…")
		}

		return err
	})
	switch {
	case err != nil:
		return s.UnknownPart("texts", err)
	case len(named) > 0:
		p.State = web.Degraded
		p.Message = errs.Say("these read the same since the update and are to be changed: %s",
			strings.Join(named, "; "))
	}

	return p
}
