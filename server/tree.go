package server

// tree is what a tree answers; T is the record of a node.
type tree[T any] struct {
	Data []node[T] `json:"data"`
}

// treeIn are the parameters of a list, which clients send to trees too, and to
// the list of traces. Those are answered whole.
type treeIn struct {
	Page          string `query:"page" doc:"ignored, like the other parameters of lists: all is answered at once"`
	Current       string `query:"current" doc:"ignored"`
	PageSize      string `query:"pageSize" doc:"ignored"`
	TZ            string `query:"tz" doc:"ignored"`
	Sorter        string `query:"sorter" doc:"ignored"`
	Filter        string `query:"filter" doc:"ignored"`
	KeywordSearch string `query:"keywordSearch" doc:"ignored"`
}

// node is a record in a tree: its own fields and, where it has some, children.
type node[T any] struct {
	Record   T         `json:"-"`
	Children []node[T] `json:"children,omitempty"`
}
