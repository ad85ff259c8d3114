package web

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/kv"
)

// Routes of resources whose operations have no logic of their own: everything that they do
// follows from the Resource and from the constraints that the store declares.

// Get returns the route that returns one record.
func Get[T, Out any](path, access, title string, t *Resource[T, Out], options ...Options) Route {
	return Read(path, access, title, func(tx *store.Tx, req *Request, in *ByID) (Out, error) {
		return t.Get(tx, req, in.ID)
	}, options...)
}

// Create returns the route that creates a record: the Resource's blank with the fields of
// In.
func Create[In, T, Out any](path, access, title string, t *Resource[T, Out],
	options ...Options) Route {
	assign := Assigning[In, T]()
	return Write("POST", path, access, title,
		func(tx *store.Tx, req *Request, in *In) (out Out, err error) {
			v := t.Blank
			assign(in, &v)
			if err := t.Collection.Create(tx, &v); err != nil {
				return out, err
			}
			return t.Output(tx, req, &v)
		}, options...)
}

// changeOf is the input of a change: the ID in the path, and the fields of In.
type changeOf[In any] struct {
	ByID
	Fields In `inline:"true"`
}

// Change returns the route that changes the fields of In that are sent.
func Change[In, T, Out any, P revisedOf[T]](path, access, title string, t *Resource[T, Out],
	options ...Options) Route {
	assign := Assigning[In, T]()
	return Write("PUT", path, access, title,
		func(tx *store.Tx, req *Request, in *changeOf[In]) (out Out, err error) {
			return Edit(tx, req, t, in.ID, func(v *T) { assign(&in.Fields, v) })
		}, Options{Record: RecordOf[T, P](t.Collection)}).With(options...)
}

// Edit changes one record.
func Edit[T, Out any](tx *store.Tx, req *Request, t *Resource[T, Out], id store.ID,
	apply func(*T)) (out Out, err error) {
	v, err := t.Collection.Update(tx, id, func(v *T) error {
		apply(v)
		return nil
	})
	if err != nil {
		return out, err
	}
	return t.Output(tx, req, v)
}

// Remove returns the route that deletes one record.
func Remove[T, Out any, P revisedOf[T]](path, access, title string, t *Resource[T, Out],
	options ...Options) Route {
	return Write("DELETE", path, access, title, t.remove, Options{
		Record: RecordOf[T, P](t.Collection),
	}).With(options...)
}

// RemoveSeveral returns the route that deletes several records, all or nothing.
func RemoveSeveral[T, Out any](path, access, title string, t *Resource[T, Out],
	options ...Options) Route {
	return DeleteSeveral(path, access, title, t.remove, options...)
}

// RemoveOrdered is RemoveSeveral for a tree; order sorts children before their parents.
func RemoveOrdered[T, Out any](path, access, title string, t *Resource[T, Out],
	order func(*store.Tx, []store.ID) []store.ID, options ...Options) Route {
	return deleteOrdered(path, access, title, t.remove, order).With(options...)
}

func (t *Resource[T, Out]) remove(tx *store.Tx, _ *Request, in *ByID) (Nothing, error) {
	return Nothing{}, t.Collection.Delete(tx, in.ID)
}

// Assigning returns a function that copies the fields that were sent to the fields of the
// record with the same JSON name. It panics, at start, if the record lacks a field of the
// input or has it with another type.
func Assigning[In, T any]() func(*In, *T) {
	assign := assigning(reflect.TypeFor[In](), reflect.TypeFor[T]())
	return func(in *In, v *T) { assign(in, v) }
}

func assigning(in, record reflect.Type) func(in, v any) {
	type pair struct{ from, to []int }
	var pairs []pair
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(record) {
		if name := f.Tag.Get("json"); name != "" {
			fields[name] = f
		}
	}

	for _, f := range reflect.VisibleFields(in) {
		if f.Anonymous {
			continue
		}
		to, ok := fields[f.Tag.Get("json")]
		if !ok || f.Type != reflect.PointerTo(to.Type) {
			panic(fmt.Sprintf("server: the field %s of %s must be a pointer to the type of the same field of %s", f.Name, in, record))
		}
		pairs = append(pairs, pair{f.Index, to.Index})
	}

	return func(in, v any) {
		from, to := reflect.ValueOf(in).Elem(), reflect.ValueOf(v).Elem()
		for _, p := range pairs {
			if sent := from.FieldByIndex(p.from); !sent.IsNil() {
				to.FieldByIndex(p.to).Set(sent.Elem())
			}
		}
	}
}

// InDeptScope limits a Resource to records whose department is in the caller's data scope.
// store.InDept declares the same for changes.
func InDeptScope[T any](by *kv.Ref[T]) func(*store.Tx, *Request) (kv.Condition, bool) {
	return func(tx *store.Tx, req *Request) (kv.Condition, bool) {
		scope := req.Actor.Scope(tx)
		return by.AnyOf(slices.Sorted(maps.Keys(scope.Depts))...), !scope.All
	}
}

// OrEmpty returns a list that is not null in JSON.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
