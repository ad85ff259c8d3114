package server

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// maxClashes is the number of groups of records that health names, and of records in each.
const maxClashes = 10

// textHealth reports records with unique texts that read the same, which an update of the program has found.
func (s *Server) textHealth() part {
	p := part{Name: "texts", State: healthy, message: errs.Say("no unique names and addresses read the same"), Figures: map[string]int64{}}
	var named []string
	err := s.db.View(store.Anonymous, func(tx *store.Tx) error {
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
			named = append(named, strings.ReplaceAll(c.Collection, "_", " ")+" "+strings.Join(ids, ", ")+" ("+c.Field+")")
		}
		if !all {
			named = append(named, "…")
		}
		return err
	})
	switch {
	case err != nil:
		return s.unknownPart("texts", err)
	case len(named) > 0:
		p.State = degraded
		p.message = errs.Say("these read the same since the update and are to be changed: %s", strings.Join(named, "; "))
	}
	return p
}
