package web

// Tree is the response of a tree; T is the type of the records.
type Tree[T any] struct {
	Data []Node[T] `json:"data"`
}

// TreeIn accepts the parameters of lists, and ignores them. Clients also send them to trees
// and to the list of traces, which are returned whole.
type TreeIn struct {
	Page          string `query:"page" doc:"Ignored, like the other parameters of lists: the response is never paged"`
	Current       string `query:"current" doc:"Ignored"`
	PageSize      string `query:"pageSize" doc:"Ignored"`
	TZ            string `query:"tz" doc:"Ignored"`
	Sorter        string `query:"sorter" doc:"Ignored"`
	Filter        string `query:"filter" doc:"Ignored"`
	KeywordSearch string `query:"keywordSearch" doc:"Ignored"`
}

// Node is a record in a tree: its own fields and its children, if any.
type Node[T any] struct {
	Record   T         `json:"-"`
	Children []Node[T] `json:"children,omitempty"`
}
