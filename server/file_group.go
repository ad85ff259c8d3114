package server

import (
	"strings"

	"reeve/store"
)

var fileGroupRoutes = []Route{
	table("/file/group", "file.group.query", "List file groups", &fileGroups),
	read("/file/group/:id", "file.group.query", "Get a file group", getFileGroup),
	write("POST", "/file/group", "file.group.create", "Create a file group", createFileGroup),
	write("PUT", "/file/group/:id", "file.group.update", "Change a file group", changeFileGroup),
	write("DELETE", "/file/group/:id", "file.group.delete", "Delete a file group", deleteFileGroup),
	deleteSeveral("/file/group", "file.group.delete", "Delete file groups", deleteFileGroup),
}

// fileGroup is a file group with the number of its files.
type fileGroup struct {
	store.FileGroup
	FileCount int `json:"file_count" doc:"of everybody, without those in the trash"`
}

func fileGroupOf(tx *store.Tx, g *store.FileGroup) (*fileGroup, error) {
	n, err := store.FileByGroup.Count(tx, g.ID)
	return &fileGroup{*g, n}, err
}

var fileGroups = Table[store.FileGroup, *fileGroup]{
	of: store.FileGroups, keywords: []string{"name"}, search: folderNamed, order: "sort, then id, ascending", first: store.FileGroupBySort.Order(),
	out: func(tx *store.Tx, _ *Request, g *store.FileGroup) (*fileGroup, error) { return fileGroupOf(tx, g) },
	columns: []tableColumn[store.FileGroup]{
		{name: "id", uses: sorted},
		{name: "name", uses: filtered | param | sorted, texts: foldersNamed, order: store.FileGroupByName.Order()},
		{name: "sort", uses: sorted, order: store.FileGroupBySort.Order()},
	},
}

// folderNamed is the condition that a group has a folded text in its name.
func folderNamed(tx *store.Tx, part string) store.Condition {
	return store.FileGroupByName.That(tx, "CONTAINS ?", func(name string) bool { return strings.Contains(name, part) })
}

// foldersNamed is the condition that a group has one of some names, in any case.
func foldersNamed(tx *store.Tx, names []string) store.Condition {
	folded := map[string]bool{}
	for _, name := range names {
		folded[store.Fold(name)] = true
	}
	return store.FileGroupByName.That(tx, "IN (?)", func(name string) bool { return folded[name] })
}

func getFileGroup(tx *store.Tx, req *Request, in *byID) (*fileGroup, error) {
	return fileGroups.get(tx, req, in.ID)
}

type fileGroupIn struct {
	Name     *string `json:"name" check:"create,min=1,max=100" doc:"unique without regard to case"`
	Sort     *int64  `json:"sort" check:"min=-1000000,max=1000000"`
	Describe *string `json:"describe" check:"max=1000,text"`
}

func (in *fileGroupIn) apply(g *store.FileGroup) {
	set(&g.Name, in.Name)
	set(&g.Sort, in.Sort)
	set(&g.Describe, in.Describe)
}

func createFileGroup(tx *store.Tx, _ *Request, in *fileGroupIn) (*fileGroup, error) {
	g := &store.FileGroup{}
	in.apply(g)
	if err := store.FileGroups.Create(tx, g); err != nil {
		return nil, err
	}
	return fileGroupOf(tx, g)
}

type fileGroupChange struct {
	byID
	fileGroupIn
}

func changeFileGroup(tx *store.Tx, req *Request, in *fileGroupChange) (*fileGroup, error) {
	g, err := store.FileGroups.Update(tx, in.ID, func(g *store.FileGroup) error {
		in.apply(g)
		return req.fresh(g)
	})
	if err != nil {
		return nil, err
	}
	return fileGroupOf(tx, g)
}

func deleteFileGroup(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.FileGroups.Delete(tx, in.ID)
}
