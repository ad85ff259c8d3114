package files_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/files"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/fold"
)

// fileModel is a model of the files, which computes the expected lists by brute force.
type fileModel struct {
	r     *rand.Rand
	files map[store.ID]*store.File
	users []store.ID // uploaders; the last one was deleted
}

var fileKinds = []string{store.ImageFile, store.AudioFile, store.VideoFile, store.ArchiveFile,
	store.DocumentFile, store.OtherFile}

// churn creates, changes, trashes, restores and deletes files at random.
func (s *fileModel) churn(tx *store.Tx, n int) error {
	for len(s.files) < n {
		f := &store.File{
			Name: fmt.Sprintf("%c%cÄ%d.txt", 'a'+rune(s.r.IntN(4)), 'A'+rune(s.r.IntN(4)),
				s.r.IntN(20)),
			FileContent: store.FileContent{Kind: fileKinds[s.r.IntN(6)], Size: int64(s.r.IntN(10))},
			UploaderID:  s.users[s.r.IntN(len(s.users))],
		}
		f.Digest = sha256.Sum256([]byte(filler("", int(f.Size)))) // one of the first files has the same content
		s.edit(f)
		if err := store.Files.Create(tx, f); err != nil {
			return err
		}
		s.files[f.ID] = f
	}
	for id, f := range s.files {
		var err error
		switch s.r.IntN(8) {
		case 0:
			f, err = store.Files.Update(tx, id, func(f *store.File) error { s.edit(f); return nil })
		case 1, 2:
			if f.Trashed() {
				f, err = store.RestoreFile(tx, id)
			} else if err = store.TrashFile(tx, id); err == nil {
				f, err = store.Files.Get(tx, id)
			}
		case 3:
			if id <= 10 {
				continue
			}
			if err = store.Files.Delete(tx, id); err == nil {
				delete(s.files, id)
				continue
			}
		}
		if err != nil {
			return err
		}

		s.files[id] = f
	}
	return nil
}

func (s *fileModel) edit(f *store.File) {
	if f.Trashed() {
		return
	}
	f.GroupID = store.ID(s.r.IntN(4)) // 0 to 3
	files.Publish(f, s.r.IntN(2) == 0)
}

// question returns the parameters of a random list request, and the files that match.
func (s *fileModel) question(trash bool) (query url.Values, holds func(*store.File) bool) {
	query, holds = url.Values{}, func(f *store.File) bool { return f.Trashed() == trash }
	and := func(more func(*store.File) bool) {
		before := holds
		holds = func(f *store.File) bool { return before(f) && more(f) }
	}
	if word := []string{"", "", "a", "ab", "ä1", "TXT", "zz"}[s.r.IntN(7)]; word != "" {
		query.Set("keywordSearch", word)
		and(func(f *store.File) bool {
			return strings.Contains(fold.Search(f.Name), fold.Search(word))
		})
	}
	if trash {
		return query, holds
	}
	if s.r.IntN(3) == 0 {
		group := store.ID(s.r.IntN(6)) // up to 5, of which there are 3; 0 is none
		query.Set("group_id", group.String())
		and(func(f *store.File) bool { return f.GroupID == group })
	}

	filter := map[string][]string{}
	if query.Get("group_id") == "" && s.r.IntN(4) == 0 {
		filter["group_id"] = [][]string{{"0", "2"}, {"0", "0"}, {"1", "3"}, {"-1"}, {"-1", "0"}}[s.r.IntN(5)]
		of := filter["group_id"]
		and(func(f *store.File) bool { return slices.Contains(of, f.GroupID.String()) })
	}
	if s.r.IntN(3) == 0 {
		of := []string{fileKinds[s.r.IntN(6)], append(fileKinds, "none")[s.r.IntN(7)]}
		filter["kind"] = of
		and(func(f *store.File) bool { return slices.Contains(of, f.Kind) })
	}
	if s.r.IntN(3) == 0 {
		of := [][]string{{"1"}, {"0"}, {"0", "1"}, {"2"}}[s.r.IntN(4)]
		filter["public"] = of
		and(func(f *store.File) bool {
			return slices.Contains(of, map[bool]string{true: "1", false: "0"}[f.Public()])
		})
	}
	if text, err := json.Marshal(filter); err == nil {
		query.Set("filter", string(text))
	}

	return query, holds
}

// order is an order that a list can have.
func (s *fileModel) order(trash bool, query url.Values) func(a, b *store.File) int {
	by := map[string]func(a, b *store.File) int{
		"":   func(a, b *store.File) int { return -cmp.Compare(a.ID, b.ID) },
		"id": func(a, b *store.File) int { return cmp.Compare(a.ID, b.ID) },
		"name": func(a, b *store.File) int {
			return cmp.Or(fold.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		},
		"size": func(a, b *store.File) int {
			return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.ID, b.ID))
		},
		"trashed_at": func(a, b *store.File) int {
			return cmp.Or(cmp.Compare(a.TrashedAt, b.TrashedAt), cmp.Compare(a.ID, b.ID))
		},
	}

	names := []string{"", "id", "name", "size"}
	if trash {
		names = append(names, "trashed_at")
	}

	name := names[s.r.IntN(len(names))]
	switch {
	case name == "" && trash:
		return func(a, b *store.File) int { return -by["trashed_at"](a, b) }
	case name == "":
		return by[""]
	case s.r.IntN(2) == 0:
		query.Set("sorter", fmt.Sprintf(`{%q:"ascend"}`, name))
		return by[name]
	}

	query.Set("sorter", fmt.Sprintf(`{%q:"descend"}`, name))
	return func(a, b *store.File) int { return -by[name](a, b) }
}

// TestFileList_MatchesBruteForce compares lists with brute force, for a caller who
// sees everything and for one who sees the files of a few users.
func TestFileList_MatchesBruteForce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, name := range []string{"A", "B", "C"} {
		in.Create("/file/group", `{"name":"`+name+`"}`)
	}

	var first []servertest.FormPart // with the content that all others share
	for n := range 10 {
		first = append(first, servertest.FilePart("first", filler("", n)))
	}

	in.Keeps("owner", first...)
	dept := in.Dept("Office", 0)
	role := in.Role("Scoped", func(r *store.Role) { r.DataScope = store.ScopeDept }, fileKeys...)
	clerk, mate := in.Member("clerk", dept, role), in.Member("mate", dept)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &fileModel{
		r:     rand.New(rand.NewPCG(seed, 0)),
		files: map[store.ID]*store.File{},
		users: []store.ID{auth.FirstUser, clerk, mate, in.Member("stranger", 0),
			in.Member("leaver", dept)},
	}
	in.OK("DELETE", fmt.Sprint("/admin/list/", s.users[4]), "", "owner")
	in.View(func(tx *store.Tx) error {
		for f, err := range store.Files.All(tx) {
			servertest.Must(t, err)
			s.files[f.ID] = f
		}
		return nil
	})
	sees := map[string]func(*store.File) bool{
		"owner": func(*store.File) bool { return true },
		"clerk": func(f *store.File) bool { return f.UploaderID == clerk || f.UploaderID == mate },
	}
	for round := range servertest.Size(8, 40, 400) {
		in.Update(func(tx *store.Tx) error { return s.churn(tx, 20+10*round%200) })
		for range 40 {
			for as, seen := range sees {
				s.ask(in, as, seen, s.r.IntN(3) == 0)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func (s *fileModel) ask(in *servertest.Instance, as string, seen func(*store.File) bool,
	trash bool) {
	in.T.Helper()
	query, holds := s.question(trash)
	order := s.order(trash, query)
	page, size := 1+s.r.IntN(3), []int{1, 3, 10, 1000}[s.r.IntN(4)]
	query.Set("page", fmt.Sprint(page))
	query.Set("pageSize", fmt.Sprint(size))
	var found []*store.File
	for _, f := range s.files {
		if holds(f) && seen(f) {
			found = append(found, f)
		}
	}

	slices.SortFunc(found, order)
	want := []store.ID{}
	for i := (page - 1) * size; i < min(page*size, len(found)); i++ {
		want = append(want, found[i].ID)
	}

	at := map[bool]string{true: "/file/trash?", false: "/file/list?"}[trash] + query.Encode()
	var got struct {
		Data  []struct{ ID store.ID }
		Total int
	}
	in.OK("GET", at, "", as).Data(&got)
	ids := []store.ID{}
	for _, f := range got.Data {
		ids = append(ids, f.ID)
	}

	if got.Total != len(found) || !slices.Equal(ids, want) {
		in.T.Errorf("%s as %s:\n got %v of %d\nwant %v of %d", at, as, ids, got.Total, want,
			len(found))
	}
}
