package web

import (
	"reeve/store"
	"reeve/store/kv"
)

// ByID is the input of an operation on one record.
type ByID struct {
	ID store.ID `path:"id"`
}

// ByIDs is the input of an operation on several records.
type ByIDs struct {
	IDs []store.ID `query:"ids" check:"required" doc:"IDs of the records, at most 200, as repeated keys or separated by commas; all or nothing. Dependent records count towards the limit"`
}

// StatusIn is the input of an operation that enables or disables a record.
type StatusIn struct {
	ByID
	Status store.Flag `json:"status" check:"required"`
}

// Set assigns a field of the input to a field of the record, if it was sent.
func Set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// AsItIs returns a record unchanged, for resources whose responses are the stored records.
func AsItIs[T any](_ *store.Tx, _ *Request, v *T) (*T, error) { return v, nil }

// ScopedTo returns the condition that a record's user is in the caller's data scope; false
// if the caller may see all users.
func ScopedTo[T any](tx *store.Tx, req *Request, by *kv.Ref[T]) (kv.Condition, bool) {
	in, narrow := req.Actor.Scope(tx).Users()
	if !narrow {
		return kv.Condition{}, false
	}
	return by.Matching(in), true
}
