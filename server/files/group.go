package files

import (
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func GroupRoutes() []web.Route {
	return []web.Route{
		web.List("/file/group", "file.group.query", "List file groups", &fileGroups),
		web.Get("/file/group/:id", "file.group.query", "Get a file group", &fileGroups),
		web.Create[fileGroupIn]("/file/group", "file.group.create", "Create a file group",
			&fileGroups),
		web.Change[fileGroupIn]("/file/group/:id", "file.group.update", "Change a file group",
			&fileGroups),
		web.Remove("/file/group/:id", "file.group.delete", "Delete a file group", &fileGroups,
			web.Options{
				Note: "409 while it has files.",
			}),
		web.RemoveSeveral("/file/group", "file.group.delete", "Delete file groups", &fileGroups),
	}
}

// fileGroup is a file group with the number of its files.
type fileGroup struct {
	store.FileGroup
	FileCount int `json:"file_count" doc:"Number of files in the group, of all uploaders, without those in the trash"`
}

func fileGroupOf(tx *store.Tx, _ *web.Request, g *store.FileGroup) (*fileGroup, error) {
	n, err := store.FileByGroup.Count(tx, g.ID)
	return &fileGroup{*g, n}, err
}

var fileGroups = web.Resource[store.FileGroup, *fileGroup]{
	Collection: store.FileGroups,
	Keywords:   []string{"name"},
	Search:     folderNamed,
	Order:      "sort, then id, ascending",
	First:      store.FileGroupBySort.Order(),
	Output:     fileGroupOf,
	Columns: []web.Column[store.FileGroup]{
		{Name: "id", Uses: web.Sorted},
		{
			Name:  "name",
			Uses:  web.Filtered | web.Param | web.Sorted,
			Texts: foldersNamed,
			Order: store.FileGroupByName.Order(),
		},
		{Name: "sort", Uses: web.Sorted, Order: store.FileGroupBySort.Order()},
	},
}

// folderNamed returns the condition that a group's name contains a folded text.
func folderNamed(tx *store.Tx, part string) kv.Condition {
	return store.FileGroupByName.That(tx, "CONTAINS ?", func(name string) bool {
		return strings.Contains(name, part)
	})
}

// foldersNamed returns the condition that a group has one of some names, as people read them.
func foldersNamed(tx *store.Tx, names []string) kv.Condition {
	return store.FileGroupByName.AnyOf(tx, names...)
}

type fileGroupIn struct {
	Name     *string `json:"name" check:"create,min=1,max=100" doc:"Name of the group; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Sort     *int64  `json:"sort" check:"min=-1000000,max=1000000"`
	Describe *string `json:"describe" check:"max=1000,text"`
}
