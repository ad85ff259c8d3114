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

// evaluate stores the value of an expression in into, unless that is nil. The expression
// can use the finders and root, the element that the page is limited to. A promise is
// awaited.
func evaluate(p *page, expression string, into any) error {
	r, err := ask(p, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("(async () => { %s; const root = %s; return %s })()", finders,
			p.scope, expression),
		AwaitPromise: yes, ReturnByValue: yes,
	})
	return decode(r.Result, r.ExceptionDetails, err, into)
}

// element returns a handle to the element that an expression returns.
func element(p *page, expression string) (runtime.RemoteObjectID, error) {
	r, err := ask(p, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("(() => { %s; const root = %s; return %s })()", finders, p.scope,
			expression),
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
		FunctionDeclaration: fmt.Sprintf("async function () { %s; return (%s).call(this) }",
			finders, function),
		ObjectID: id, AwaitPromise: yes, ReturnByValue: yes,
	})
	return decode(r.Result, r.ExceptionDetails, err, into)
}

func decode(value *runtime.RemoteObject, thrown *runtime.ExceptionDetails, err error,
	into any) error {
	if err != nil {
		return err
	}
	if thrown != nil {
		text, _, _ := strings.Cut(exception(thrown), "\n") // without the stack in the finders
		return errors.New(strings.TrimPrefix(text, "Error: "))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(value.Value, into)
}

// exception returns the text of an exception.
func exception(thrown *runtime.ExceptionDetails) string {
	if thrown.Exception != nil && thrown.Exception.Description != "" {
		return thrown.Exception.Description
	}
	return thrown.Text
}

var errNone = errors.New("there is none")

// fields are the roles of input fields.
var fields = []string{"textbox", "searchbox", "spinbutton", "combobox"}

// locate finds the only element with a role (one of several) and a name, as the browser
// exposes them to screen readers.
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

	resolved, err := ask(p, dom.ResolveNode,
		dom.ResolveNodeParams{BackendNodeID: exact[0].BackendDOMNodeID})
	if err != nil {
		return "", err
	}

	return resolved.Object.ObjectID, nil
}

// said returns the text of a property that may be missing.
func said(v *accessibility.Value) (text string) {
	if v != nil {
		json.Unmarshal(v.Value, &text) // a value that is not a text counts as none
	}
	return strings.Join(strings.Fields(text), " ")
}

// quote returns a text as a JavaScript literal.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can always be encoded
	}
	return string(b)
}
