package e2e

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
)

// finders are functions that find elements in a page. They are sent with whatever
// uses them, so that no page has them of itself.
//
//go:embed browser_find.js
var finders string

var yes = new(true)

// evaluate gives what an expression comes to, which may use the finders and root,
// the element in which the page looks. A promise is waited for; nil takes nothing.
func evaluate(p *page, expression string, into any) error {
	r, err := ask(p, runtime.Evaluate, runtime.EvaluateParams{
		Expression:   fmt.Sprintf("(async () => { %s; const root = %s; return %s })()", finders, p.scope, expression),
		AwaitPromise: yes, ReturnByValue: yes,
	})
	return decode(r.Result, r.ExceptionDetails, err, into)
}

// element is a handle on the element that an expression of the page comes to.
func element(p *page, expression string) (runtime.RemoteObjectID, error) {
	r, err := ask(p, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("(() => { %s; const root = %s; return %s })()", finders, p.scope, expression),
	})
	if err := decode(r.Result, r.ExceptionDetails, err, nil); err != nil {
		return "", err
	}
	if r.Result.ObjectID == "" {
		return "", errNone
	}
	return r.Result.ObjectID, nil
}

// on calls a function with an element as its this.
func on(p *page, id runtime.RemoteObjectID, function string, into any) error {
	r, err := ask(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: fmt.Sprintf("async function () { %s; return (%s).call(this) }", finders, function),
		ObjectID:            id, AwaitPromise: yes, ReturnByValue: yes,
	})
	return decode(r.Result, r.ExceptionDetails, err, into)
}

func decode(value *runtime.RemoteObject, thrown *runtime.ExceptionDetails, err error, into any) error {
	if err != nil {
		return err
	}
	if thrown != nil {
		text, _, _ := strings.Cut(exception(thrown), "\n") // without the places in the finders
		return errors.New(strings.TrimPrefix(text, "Error: "))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(value.Value, into)
}

// exception is what an exception says of itself.
func exception(thrown *runtime.ExceptionDetails) string {
	if thrown.Exception != nil && thrown.Exception.Description != "" {
		return thrown.Exception.Description
	}
	return thrown.Text
}

var errNone = errors.New("there is none")

// fields are the roles of what one writes into.
var fields = []string{"textbox", "searchbox", "spinbutton", "combobox"}

// locate finds the one element of a role (any of several) and a name, as the browser
// tells them to screen readers.
func locate(p *page, name string, roles ...string) (runtime.RemoteObjectID, error) {
	root, err := element(p, "root")
	if err != nil {
		return "", err
	}
	query := accessibility.QueryAXTreeParams{ObjectID: root}
	if len(roles) == 1 {
		query.Role = roles[0]
	}
	tree, err := ask(p, accessibility.QueryAXTree, query)
	if err != nil {
		return "", err
	}
	var exact, part []*accessibility.Node
	for _, node := range tree.Nodes {
		if node.Ignored || !slices.Contains(roles, said(node.Role)) {
			continue
		}
		if said(node.Name) == name {
			exact = append(exact, node)
		} else if strings.Contains(said(node.Name), name) {
			part = append(part, node)
		}
	}
	if len(exact) == 0 {
		exact = part
	}
	if len(exact) == 0 {
		return "", errNone
	}
	if len(exact) > 1 {
		return "", fmt.Errorf("there are %d", len(exact))
	}
	resolved, err := ask(p, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: exact[0].BackendDOMNodeID})
	if err != nil {
		return "", err
	}
	return resolved.Object.ObjectID, nil
}

// said is the text of a property that may be missing.
func said(v *accessibility.Value) (text string) {
	if v != nil {
		json.Unmarshal(v.Value, &text) // what is no text is none
	}
	return strings.Join(strings.Fields(text), " ")
}

// quote is a text as JavaScript has it.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text has a form
	}
	return string(b)
}
