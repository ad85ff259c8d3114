package server

import (
	"strings"

	"reeve/store"
)

var fileGroupRoutes = []Route{
	diskList("/file/group", "file.group.query", "List file groups", &fileGroups),
	get("/file/group/:id", "file.group.query", "Get a file group", &fileGroups),
	create[fileGroupIn]("/file/group", "file.group.create", "Create a file group", &fileGroups),
	change[fileGroupIn]("/file/group/:id", "file.group.update", "Change a file group", &fileGroups),
	remove("/file/group/:id", "file.group.delete", "Delete a file group", &fileGroups),
	removeSeveral("/file/group", "file.group.delete", "Delete file groups", &fileGroups),
}

// fileGroup is a file group with the number of its files.
type fileGroup struct {
	store.FileGroup
	FileCount int `json:"file_count" doc:"Number of files in the group, of all uploaders, without those in the trash"`
}

func fileGroupOf(tx *store.Tx, _ *Request, g *store.FileGroup) (*fileGroup, error) {
	n, err := store.FileByGroup.Count(tx, g.ID)
	return &fileGroup{*g, n}, err
}

var fileGroups = Resource[store.FileGroup, *fileGroup]{
	of: store.FileGroups, keywords: []string{"name"}, search: folderNamed, order: "sort, then id, ascending", first: store.FileGroupBySort.Order(),
	out: fileGroupOf,
	columns: []diskColumn[store.FileGroup]{
		{name: "id", uses: sorted},
		{name: "name", uses: filtered | param | sorted, texts: foldersNamed, order: store.FileGroupByName.Order()},
		{name: "sort", uses: sorted, order: store.FileGroupBySort.Order()},
	},
}

// folderNamed returns the condition that a group's name contains a folded text.
func folderNamed(tx *store.Tx, part string) store.Condition {
	return store.FileGroupByName.That(tx, "CONTAINS ?", func(name string) bool { return strings.Contains(name, part) })
}

// foldersNamed returns the condition that a group has one of some names, as people read them.
func foldersNamed(tx *store.Tx, names []string) store.Condition {
	return store.FileGroupByName.AnyOf(tx, names...)
}

type fileGroupIn struct {
	Name     *string `json:"name" check:"create,min=1,max=100" doc:"Name of the group; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Sort     *int64  `json:"sort" check:"min=-1000000,max=1000000"`
	Describe *string `json:"describe" check:"max=1000,text"`
}
