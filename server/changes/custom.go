package changes

import (
	"encoding/json"
	"errors"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
)

// RealmOfCustom returns the realm of the custom fields of a collection; "" if its records have
// none.
func RealmOfCustom(collection string) string {
	switch collection {
	case store.Users.Name():
		return store.AdminRealm
	case store.AppUsers.Name():
		return store.AppRealm
	}
	return ""
}

// audience returns as whom the caller reads the custom fields in a change of a record: as its own
// if it sees the change only for this reason.
func (v *View) audience(collection string, id store.ID) store.FieldAudience {
	own := collection == store.Users.Name() && id == v.who.ID
	if own && v.who.Key == nil && v.who.By == nil &&
		!v.who.HasPermission(v.tx, store.AccessOf(collection).Query) {
		return store.FieldSelf
	}
	return web.AudienceOf(v.who)
}

// customFields adds the changes of custom fields, each as a field named fields.KEY. Those that the
// caller may not read are left out, and those of fields that have been deleted.
func (v *View) customFields(realm string, f *audit.Field, whole bool, to *LogChange) error {
	was, erased, err := v.customValues(f.Old)
	if err != nil {
		return err
	}

	is, erased2, err := v.customValues(f.New)
	if err != nil {
		return err
	}
	if erased || erased2 {
		to.Fields = append(to.Fields, logField{Name: f.Name, Erased: true})
	}

	for _, c := range store.CustomFieldsOf(v.tx, realm, v.audience(to.Collection, to.ID)) {
		before, after := was.Get(c.ID), is.Get(c.ID)
		if before == after {
			continue
		}
		field := logField{Name: web.CustomPrefix + c.Key}
		if field.Old, err = jsonOf(c, before); err == nil {
			field.New, err = jsonOf(c, after)
		}
		if err != nil {
			return err
		}
		v.finish(to.Collection, &field, whole)
		to.Fields = append(to.Fields, field)
	}

	return nil
}

// customValues returns the values of custom fields that the log has. erased reports that they can't
// be read any more.
func (v *View) customValues(from audit.Value) (values store.FieldValues, erased bool, err error) {
	text, known, err := v.log.Read(from)
	if err != nil || !known || len(text) == 0 {
		return nil, !known && from.Box != nil, err
	}
	return values, false, json.Unmarshal(text, &values)
}

// customDifferences returns the custom fields of a record that have changed since, of those that
// the caller may read. If there are none, one difference without values remains.
func customDifferences(tx *store.Tx, realm string,
	c *store.UndoConflict) ([]UndoDifference, error) {
	var expected, current store.FieldValues
	if err := errors.Join(decodeLogged(c.Expected, &expected), decodeLogged(c.Current, &current)); err != nil {
		return nil, err
	}

	var list []UndoDifference
	for _, f := range store.CustomFieldsOf(tx, realm, web.AudienceOf(store.ActorOf(tx))) {
		was, is := expected.Get(f.ID), current.Get(f.ID)
		if was == is {
			continue
		}
		d := UndoDifference{Collection: c.Collection, ID: c.ID, Field: web.CustomPrefix + f.Key}
		var err, err2 error
		d.Expected, err = jsonOf(f, was)
		d.Current, err2 = jsonOf(f, is)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		list = append(list, d)
	}

	if list == nil {
		list = []UndoDifference{{Collection: c.Collection, ID: c.ID, Field: c.Field}}
	}

	return list, nil
}

// decodeLogged decodes a logged value; nothing is no value.
func decodeLogged(text json.RawMessage, values *store.FieldValues) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, values)
}

// jsonOf returns the JSON of a stored value; nil for none.
func jsonOf(f *store.CustomField, text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	return json.Marshal(f.Value(text))
}
