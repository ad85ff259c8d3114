package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// keyHealth counts the service keys that need attention. A key that nobody uses, or that has expired, should
// be deleted, but nothing is wrong with the server.
func (s *Server) keyHealth() part {
	states := map[string]int64{}
	count := int64(0)
	err := s.db.View(store.System, func(tx *store.Tx) error {
		ids, err := store.KeyByKind.IDs(tx, "0")
		if err != nil {
			return err
		}
		for _, id := range ids {
			k, err := store.APIKeys.Get(tx, id)
			if err != nil {
				return err
			}
			owner, err := store.Users.Get(tx, k.UserID)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			states[keyState(tx, k, owner)]++
			count++
		}
		return nil
	})
	if err != nil {
		return s.unknownPart("keys", err)
	}
	p := part{Name: "keys", State: healthy, message: errs.Say("API keys: %d", count), Figures: map[string]int64{
		"count": count, keyUnused: states[keyUnused], keyExpired: states[keyExpired], keyPaused: states[keyPaused], keyNoOwner: states[keyNoOwner],
	}}
	if states[keyUnused]+states[keyExpired]+states[keyPaused]+states[keyNoOwner] > 0 {
		p.message = errs.Say("of %d API keys, %d have been unused for 90 days, %d have expired, %d are paused, and %d have no owner",
			count, states[keyUnused], states[keyExpired], states[keyPaused], states[keyNoOwner])
	}
	if states[keyPaused]+states[keyNoOwner] > 0 {
		p.State = degraded
	}
	return p
}
