package ops

import (
	"encoding/json"
	"io/fs"
	"sync"

	"reeve/server/manual"
	"reeve/server/web"
	"reeve/store"
)

func ManualRoutes(o *Ops) []web.Route {
	return []web.Route{
		web.Read("/system/manual", web.SignedIn, "Read the manual", o.readManual, web.Options{
			AllowedForCommands: true,

			ETag: true,
			Note: "Returns the topics of the manual as HTML: in Chinese if Accept-Language prefers zh and the topic is translated, otherwise in English.",
		}),
	}
}

// ManualPages is the path of a topic in the console, before the topic's key.
const ManualPages = "/console/help/"

// manualTopic is a topic in the response.
type manualTopic struct {
	Key   string `json:"key" doc:"Name of the topic, as in reeve help"`
	Title string `json:"title" doc:"Title of the topic"`
	Lang  string `json:"lang" doc:"Language of the title and the text, as in the attribute lang of HTML: en or zh-CN"`
	HTML  string `json:"html" doc:"Text of the topic, without scripts, styles and pictures"`
}

type manualAnswer struct {
	Data []manualTopic `json:"data" doc:"Topics in reading order"`
}

// NewManual renders the manual in files for readers of a language, such as zh-CN; without files it is
// empty. pages is the URL of a topic, before its key.
func NewManual(files fs.FS, pages string, lang string) (answer web.Encoded[manualAnswer], err error) {
	whole := manualAnswer{Data: []manualTopic{}}
	var topics []*manual.Topic
	if files != nil {
		if topics, err = manual.Load(files); err != nil {
			return answer, err
		}
		if topics, err = manual.Translated(topics, files, lang); err != nil {
			return answer, err
		}
	}

	for _, t := range topics {
		html, err := t.HTML(pages)
		if err != nil {
			return answer, err
		}
		whole.Data = append(whole.Data, manualTopic{t.Key, t.Title, t.Lang, html})
	}

	answer.JSON, err = json.Marshal(whole)
	answer.ETag = web.DigestTag(answer.JSON)
	return answer, err
}

// manualIn renders the manual in a language at the first call.
func manualIn(s *web.Server, lang string) func() (web.Encoded[manualAnswer], error) {
	return sync.OnceValues(func() (web.Encoded[manualAnswer], error) {
		return NewManual(s.Config.Manual, s.URL(ManualPages), lang)
	})
}

func (o *Ops) readManual(_ *store.Tx, req *web.Request,
	_ *web.None) (web.Encoded[manualAnswer], error) {
	return o.manual[req.Language().Tag()]()
}
