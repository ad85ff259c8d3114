package server

// tree is the response of a tree; T is the type of the records.
type tree[T any] struct {
	Data []node[T] `json:"data"`
}

// treeIn accepts the parameters of lists, and ignores them. Clients also send them to trees
// and to the list of traces, which are returned whole.
type treeIn struct {
	Page          string `query:"page" doc:"Ignored, like the other parameters of lists: the response is never paged"`
	Current       string `query:"current" doc:"Ignored"`
	PageSize      string `query:"pageSize" doc:"Ignored"`
	TZ            string `query:"tz" doc:"Ignored"`
	Sorter        string `query:"sorter" doc:"Ignored"`
	Filter        string `query:"filter" doc:"Ignored"`
	KeywordSearch string `query:"keywordSearch" doc:"Ignored"`
}

// node is a record in a tree: its own fields and its children, if any.
type node[T any] struct {
	Record   T         `json:"-"`
	Children []node[T] `json:"children,omitempty"`
}
