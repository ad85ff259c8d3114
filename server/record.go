package server

import "reeve/store"

// byID is the input of an operation on one record.
type byID struct {
	ID store.ID `path:"id"`
}

// byIDs is the input of an operation on several records.
type byIDs struct {
	IDs []store.ID `query:"ids" check:"required" doc:"IDs of the records, at most 200, as repeated keys or separated by commas; all or nothing. Dependent records count towards the limit"`
}

// statusIn is the input of an operation that enables or disables a record.
type statusIn struct {
	byID
	Status store.Flag `json:"status" check:"required"`
}

// set assigns a field of the input to a field of the record, if it was sent.
func set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// asItIs returns a record unchanged, for resources whose responses are the stored records.
func asItIs[T any](_ *store.Tx, _ *Request, v *T) (*T, error) { return v, nil }

// scopedTo returns the condition that a record's user is in the caller's data scope; false
// if the caller may see all users.
func scopedTo[T any](tx *store.Tx, req *Request, by *store.Ref[T]) (store.Condition, bool) {
	in, narrow := req.Actor.Scope(tx).Users()
	if !narrow {
		return store.Condition{}, false
	}
	return by.Matching(in), true
}
