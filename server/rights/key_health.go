package rights

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// KeyHealth counts the service keys that need attention. A key that is unused or has expired should
// be deleted, but the server is healthy.
func KeyHealth(s *web.Server) web.Part {
	states := map[string]int64{}
	count := int64(0)
	err := s.DB.View(store.System, func(tx *store.Tx) error {
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
			states[KeyState(tx, k, owner)]++
			count++
		}

		return nil
	})
	if err != nil {
		return s.UnknownPart("keys", err)
	}

	p := web.Part{Name: "keys", State: web.Healthy, Message: errs.Say("API keys: %d", count),
		Figures: map[string]int64{
			"count": count, KeyUnused: states[KeyUnused], KeyExpired: states[KeyExpired],
			KeyPaused: states[KeyPaused], KeyNoOwner: states[KeyNoOwner],
		}}
	if states[KeyUnused]+states[KeyExpired]+states[KeyPaused]+states[KeyNoOwner] > 0 {
		p.Message = errs.Say("of %d API keys, %d have been unused for 90 days, %d have expired, %d are paused, and %d have no owner",
			count, states[KeyUnused], states[KeyExpired], states[KeyPaused], states[KeyNoOwner])
	}
	if states[KeyPaused]+states[KeyNoOwner] > 0 {
		p.State = web.Degraded
	}

	return p
}
