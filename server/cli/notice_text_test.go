package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// component is software that is a part of the program, with its license files.
type component struct {
	name  string
	texts []string
}

// notice is the text of NOTICE: the components with their copyright lines, and then each
// license once.
type notice struct {
	list   strings.Builder
	bodies []string // of the licenses, the first is number 1
}

const noticeHead = `Licenses of the software in the program reeve
` + "`reeve licenses`" + ` prints this file. It is generated:
go test ./server/cli -run Notice -update
The number in brackets is that of a license text at the end.
`

// section adds components.
func (n *notice) section(t *testing.T, title string, all []component) {
	t.Helper()
	fmt.Fprintf(&n.list, "\n%s\n%s\n", title, strings.Repeat("-", len(title)))
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.name, b.name) })
	for _, c := range all {
		var numbers, owners []string
		for _, text := range c.texts {
			head, body := splitLicense(text)
			if kindOf(body) == "" {
				t.Errorf("%s: a license of an unknown kind:\n%s", c.name, body)
			}
			numbers, owners = append(numbers, fmt.Sprintf("[%d]", n.number(body))), append(owners,
				head...)
		}

		if len(numbers) == 0 {
			t.Errorf("%s: found no license", c.name)
		}

		fmt.Fprintf(&n.list, "%s %s\n", c.name, strings.Join(unique(numbers), " "))
		for _, line := range unique(owners) {
			fmt.Fprintf(&n.list, "    %s\n", line)
		}
	}
}

// unique returns the different strings, in the order of their first occurrence.
func unique(all []string) (different []string) {
	for _, s := range all {
		if !slices.Contains(different, s) {
			different = append(different, s)
		}
	}
	return different
}

// number returns the number of a license text. Texts that differ only in space are the same.
func (n *notice) number(body string) int {
	same := func(other string) bool {
		return slices.Equal(strings.Fields(other), strings.Fields(body))
	}
	if i := slices.IndexFunc(n.bodies, same); i >= 0 {
		return i + 1
	}
	n.bodies = append(n.bodies, body)
	return len(n.bodies)
}

func (n *notice) String() string {
	var b strings.Builder
	b.WriteString(noticeHead + n.list.String())
	for i, body := range n.bodies {
		fmt.Fprintf(&b, "\n%s\n[%d] %s\n\n%s\n", strings.Repeat("=", 80), i+1, kindOf(body), body)
	}
	return b.String()
}

var (
	terms        = regexp.MustCompile(`(?m)^(Permission is hereby granted|Permission to use|Redistribution and use)`)
	licenseTitle = regexp.MustCompile(`(?i)^[#\s(]*(the )?(mit|isc|bsd|vite core)\b.*$`)
)

// splitLicense separates the copyright lines, which differ between components, from the
// terms, which few licenses share. A text without such a head is all terms.
func splitLicense(text string) (head []string, body string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if apache.MatchString(text) {
		return splitApache(text)
	}
	at := terms.FindStringIndex(text)
	if at == nil {
		return nil, strings.Trim(text, "\n ")
	}
	for line := range strings.Lines(text[:at[0]]) {
		if line = strings.TrimSpace(line); line != "" &&
			(!licenseTitle.MatchString(line) || strings.Contains(line, "Copyright")) {
			head = append(head, line)
		}
	}
	return head, strings.TrimSpace(text[at[0]:])
}

var (
	apache    = regexp.MustCompile(`^\s*Apache License\s+Version 2\.0, January 2004`)
	apacheEnd = "END OF TERMS AND CONDITIONS"
)

// splitApache is splitLicense for the Apache License. Its appendix says how to apply it, with a copyright
// line that some components have filled in.
func splitApache(text string) (head []string, body string) {
	body, appendix, found := strings.Cut(text, apacheEnd)
	if !found {
		return nil, strings.Trim(text, "\n ")
	}
	for line := range strings.Lines(appendix) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Copyright") && !strings.Contains(line, "yyyy") {
			head = append(head, line)
		}
		if strings.Contains(line, "limitations under the License.") {
			_, rest, _ := strings.Cut(appendix, line)
			if rest = strings.TrimSpace(rest); rest != "" { // further licenses follow
				return nil, strings.Trim(text, "\n ")
			}
		}
	}
	return head, strings.Trim(body, "\n ") + "\n\n   " + apacheEnd
}

// kinds have the licenses that are allowed in the program, each with words that only it has.
var kinds = []struct{ name, words string }{
	{"Apache License 2.0", "Apache License Version 2.0"},
	{"MIT License", "Permission is hereby granted, free of charge"},
	{"ISC License",
		"distribute this software for any purpose with or without fee is hereby granted"},
	{"BSD 3-Clause License", "Neither the name of"},
	{"BSD 2-Clause License", "Redistributions in binary form must reproduce"},
	{"Apache License 2.0, by reference", "Licensed under the Apache License, Version 2.0"},
	{"Attribution notice", "This product includes software developed"}, // besides the Apache License
	{"Patent grant of the Go project", "Additional IP Rights Grant (Patents)"},
}

// kindOf returns the names of the licenses in a text, or "" if it knows none.
func kindOf(body string) string {
	words, names := strings.Join(strings.Fields(body), " "), []string{}
	for _, k := range kinds {
		if strings.Contains(words, k.words) &&
			!(k.name == "BSD 2-Clause License" && slices.Contains(names, "BSD 3-Clause License")) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// TestNotice_LicensesSplit: the copyright lines stay with the component, and the same terms in
// other lines are one text.
func TestNotice_LicensesSplit(t *testing.T) {
	n := &notice{}
	n.section(t, "Both", []component{
		{"b",
			[]string{"MIT License\n\nThe MIT License Copyright (c) 2020 B\n\nPermission is hereby granted, free of\ncharge, to any person"}},
		{"a",
			[]string{"Copyright (c) 2019 A\r\nAll rights reserved.\r\n\r\nPermission is hereby granted, free of charge,\r\nto any person"}},
	})
	want := noticeHead + "\nBoth\n----\na [1]\n    Copyright (c) 2019 A\n    All rights reserved.\nb [1]\n    The MIT License Copyright (c) 2020 B\n\n" +
		strings.Repeat("=", 80) + "\n[1] MIT License\n\nPermission is hereby granted, free of charge,\nto any person\n"
	if have := n.String(); have != want {
		t.Errorf("it is %s, want %s", have, want)
	}
}
