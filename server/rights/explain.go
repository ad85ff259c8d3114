package rights

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

type explainIn struct {
	UserID store.ID `query:"user_id" names:"user,user" doc:"ID of the user; either user_id or key_id is required"`
	KeyID  store.ID `query:"key_id" doc:"ID of the API key"`
	Key    string   `query:"key" check:"required"`
	pastTime
}

// pastTime is an earlier time to explain.
type pastTime struct {
	At string `query:"at" doc:"Earlier time to explain: RFC 3339, or a time without a zone or a date in the zone tz, which means its first moment; now by default"`
	TZ string `query:"tz" doc:"Time zone, like Asia/Shanghai or +08:00, of a date and of a time without one; default: UTC"`
}

// time parses the parameter at; nil for now.
func (in *pastTime) time() (*store.Time, error) {
	faults := errs.Faults{}
	zone, err := store.ZoneOf(in.TZ)
	if err != nil {
		faults.Add("tz", "must be a time zone, such as Asia/Shanghai or +08:00")
		return nil, faults.Err(errs.Malformed)
	}
	if in.At == "" {
		return nil, nil
	}

	at, err := store.Bound(in.At, false, zone)
	if err != nil {
		faults.Add("at",
			"must be a time such as 2025-05-08T03:04:05Z, or a date such as 2025-05-08")
	}

	return &at, faults.Err(errs.Malformed)
}

// explain explains a permission of a user or of an API key.
func explain(req *web.Request, in *explainIn) (*store.Explanation, error) {
	at, err := in.time()
	if err != nil {
		return nil, err
	}
	switch {
	case (in.UserID == 0) == (in.KeyID == 0):
		return nil, errs.Field(errs.Malformed, "user_id", "either user_id or key_id is required")
	case in.KeyID != 0 && in.At != "":
		return nil, errs.Field(errs.Malformed, "at", "is not available for API keys")
	case in.KeyID != 0:
		return explainKey(req, in)
	}
	return explainAccount(req, store.Account{ID: in.UserID}, in.Key, at)
}

type explainAppIn struct {
	UserID store.ID `query:"user_id" names:"user,app_user" check:"required" doc:"ID of the app user"`
	Key    string   `query:"key" check:"required"`
	pastTime
}

// explainApp explains a permission of an app user.
func explainApp(req *web.Request, in *explainAppIn) (*store.Explanation, error) {
	at, err := in.time()
	if err != nil {
		return nil, err
	}
	return explainAccount(req, store.Account{App: true, ID: in.UserID}, in.Key, at)
}

// explainAccount explains a permission of a user of either realm now, or at an earlier time from
// the change log, which is read outside the transaction. The user must be in the caller's data
// scope now; a user who was deleted is in the data scope all.
func explainAccount(req *web.Request, who store.Account, key string,
	at *store.Time) (out *store.Explanation, err error) {
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		if at != nil && *at > tx.Now() {
			return errs.Field(errs.Invalid, "at", "must not be in the future")
		}
		_, err := who.Seen(tx)
		if at != nil && errs.Is(err, errs.NotFound) && (who.App || req.Actor.Scope(tx).All) {
			return nil
		}
		if err == nil && at == nil {
			out, err = who.Explain(tx, key)
		}
		return err
	})
	if err == nil && at != nil {
		out, err = store.ExplainAt(req.DB.DB, *at, who, key)
	}
	return out, err
}

// explainKey explains a permission of an API key, whose owner must be in the caller's data scope.
func explainKey(req *web.Request, in *explainIn) (out *store.Explanation, err error) {
	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		if _, err := keys.Get(tx, req, in.KeyID); err != nil {
			return err
		}
		k, err := store.APIKeys.Get(tx, in.KeyID)
		if err == nil {
			out, err = store.ExplainKey(tx, k, in.Key)
		}
		return err
	})
}
