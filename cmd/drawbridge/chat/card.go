package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/rpc"
)

// cardLines of a long text are shown at once. The rest is counted, and can be looked at.
const cardLines = 40

// permission writes out what is asked. It is kept until its end is told.
func (t *transcript) permission(p rpc.PermissionParams) {
	t.asked[p.PromptID] = p
	t.section("prompt")
	head := "Claude asks to use " + oneLine(p.Tool)
	if p.Plan != "" {
		head = "Claude asks to carry out this plan"
	}
	if p.ParentToolUseID != "" {
		head += " (for a helper)"
	}
	t.begin(ask, "┌ ")
	t.print(ask, head)
	if p.Reason.Text != "" && p.Plan == "" {
		t.print(dim, " · "+plain(p.Reason.Text))
	}
	if p.RiskLevel != "" && p.Plan == "" {
		t.print(dim, " · "+oneLine(p.RiskLevel)+" risk")
	}
	t.end()
	if p.Again != "" {
		say(t, ask, "│ ", "asked again: "+strings.ReplaceAll(oneLine(p.Again), "_", " "))
	}
	for _, l := range cut(permissionBody(p)) {
		say(t, l.s, "│ ", l.text)
	}
	if len(p.Flags) > 0 {
		say(t, bad, "│ ", "look twice: "+strings.ReplaceAll(oneLine(strings.Join(p.Flags, ", ")), "_", " "))
	}
	if offered(p.Scopes, "session") != "" && len(p.Rules) > 0 {
		say(t, normal, "│ ", "for the session would be allowed: "+plain(strings.Join(p.Rules, ", ")))
	}
	if p.Description != "" && !strings.Contains(p.Title, p.Description) {
		say(t, dim, "│ ", "Claude says: "+oneLine(p.Description))
	}
	if p.BlockedPath != "" && !strings.Contains(p.Reason.Text, p.BlockedPath) {
		say(t, ask, "│ ", "outside of what it may touch: "+plain(p.BlockedPath))
	}
}

// styled is a line of a card.
type styled struct {
	s    style
	text string
}

// permissionBody is all of what would run, as it was asked.
func permissionBody(p rpc.PermissionParams) []styled {
	switch {
	case p.Plan != "":
		return styledLines(normal, "", p.Plan)
	case p.Command != "":
		return styledLines(bold, "", p.Display)
	}
	body := styledLines(bold, "", p.Title)
	var input map[string]json.RawMessage
	_ = json.Unmarshal(p.Input, &input)
	names := slices.Sorted(maps.Keys(input))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	for _, name := range names {
		text := member(p.Input, name)
		if text != "" && strings.Contains(p.Title, text) {
			continue
		}
		switch name {
		case "old_string":
			body = append(body, styledLines(bad, "- ", text)...)
		case "new_string", "content", "new_source":
			body = append(body, styledLines(good, "+ ", text)...)
		default:
			body = append(body, styledLines(normal, name+": ", text)...)
		}
	}
	return body
}

// place has the long texts come last, and the old before the new.
func place(name string) int {
	return slices.Index([]string{"old_string", "new_string", "content", "new_source"}, name)
}

func styledLines(s style, mark, text string) []styled {
	var list []styled
	for _, l := range lines(plain(text)) {
		list = append(list, styled{s, mark + l})
	}
	return list
}

// cut shortens what is too long for a look, and says so.
func cut(body []styled) []styled {
	if len(body) <= cardLines+1 {
		return body
	}
	rest := len(body) - cardLines
	return append(body[:cardLines:cardLines], styled{ask, fmt.Sprintf("… %s not shown", plural(rest, "more line"))})
}

// member is a member of a JSON object as text: a string without its quotes, anything else as it is.
func member(object json.RawMessage, name string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(all[name], &text) == nil {
		return text
	}
	return string(all[name])
}

// exchange is a JSON object with another string for one of its members.
func exchange(object json.RawMessage, name, text string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	var err error
	if all[name], err = encode(text); err != nil {
		return nil, err
	}
	return encode(all)
}

// encode is json.Marshal that leaves <, > and & as they are: a command is full of them.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// question writes out one question, with its choices numbered.
func (t *transcript) question(q rpc.QuestionParams, n int) {
	t.asked[q.PromptID] = rpc.PermissionParams{}
	t.section("prompt")
	one := q.Questions[n]
	head := oneLine(one.Header)
	if len(q.Questions) > 1 {
		head += fmt.Sprintf(" (%d of %d)", n+1, len(q.Questions))
	}
	say(t, ask, "┌ ", "Claude asks · "+head)
	say(t, bold, "│ ", plain(one.Question))
	for i, o := range one.Options {
		t.begin(normal, fmt.Sprintf("│   %d  ", i+1))
		t.print(bold, oneLine(o.Label))
		if o.Description != "" {
			t.print(dim, " · "+oneLine(o.Description))
		}
		t.end()
	}
}
