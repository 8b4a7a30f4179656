package fakeapi

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// directive is one line of the script language.
type directive struct {
	usage string
	does  string
	build func(args string, r Request) (Answer, error)
}

// directives by name, in the order [Usage] shows them.
var directives = []directive{
	{"bash: CMD", "calls Bash", bash},
	{"tools: CMD;;CMD", "calls Bash several times in one message", tools},
	{"chain: CMD;;CMD", "calls Bash, the next when the last is done", chain},
	{"bgbash: CMD", "calls Bash with run_in_background", bgbash},
	{"read: PATH", "calls Read", reads},
	{"reads: PATH;;PATH", "calls Read several times in one message", reads},
	{"write: PATH|TEXT", "calls Write", write},
	{"edit: PATH|OLD|NEW", "calls Read, as the CLI demands, then Edit", edit},
	{"todo", "calls TodoWrite, or TaskCreate where that has replaced it", todo},
	{"ask", "calls AskUserQuestion with one question", ask},
	{"ask2", "calls AskUserQuestion with two, the second of which takes several answers", ask2},
	{"plan", "calls ExitPlanMode", plan},
	{"task: SCRIPT", "calls the subagent tool; SCRIPT is the subagent's", task},
	{"taskfg: SCRIPT", "the same, not in the background", taskfg},
	{"tasks: SCRIPT&&&SCRIPT", "calls the subagent tool several times in one message", task},
	{"call: TOOL {JSON}", "calls any tool", call},
	{"calls: TOOL {JSON};;TOOL {JSON}", "calls any tools in one message", calls},
	{"think: TEXT", "thinks, then speaks", think},
	{"tokens: N", "says N words", tokens},
	{"slow: N MS", "says N words, one each MS milliseconds", slow},
	{"big: N", "says N letters in one delta", big},
	{"unicode", "says UnicodeText in UTF-8", unicode},
	{"escapes", "says UnicodeText with every character escaped that may be", escapes},
	{"split", "says SplitText, cutting surrogate pairs between deltas", split},
	{"maxtok", "stops for max_tokens", maxtok},
	{"refuse", "stops for refusal, having said nothing", refuse},
	{"fail: CODE [TIMES]", "answers with that HTTP error", fail},
	{"cut [TIMES]", "drops the connection in the middle of the stream", broken(Cut)},
	{"hang [TIMES]", "stops talking in the middle of the stream", broken(Hang)},
	{"sseerr: TYPE [TIMES]", "sends an error event in the middle of the stream", sseerr},
}

var byName = func() map[string]directive {
	m := map[string]directive{}
	for _, d := range directives {
		name, _, _ := strings.Cut(d.usage, ":")
		name, _, _ = strings.Cut(name, " ")
		m[name] = d
	}
	return m
}()

// Usage lists the script language.
func Usage() string {
	var b strings.Builder
	for _, d := range directives {
		fmt.Fprintf(&b, "  %-32s %s\n", d.usage, d.does)
	}
	return b.String() + `
Anything else is echoed: "Echo: TEXT". The results of tools are answered "Tool said: CONTENT | CONTENT", or go on with the
script that called them. Behind " ## " stands the script of the turn the CLI begins by itself when a background task of
the first script ends: "bgbash: sleep 1 ## bash: touch x"; without it that turn says "Background done."
With TIMES the first TIMES attempts fail and the next one is answered "Recovered."
`
}

// script is the answer that text asks for.
func script(text string, r Request) Answer {
	text, after, _ := strings.Cut(text, " ## ")
	text = strings.TrimSpace(text)
	d, args, ok := parse(text)
	if !ok {
		return Answer{Blocks: []Block{Text("Echo: " + shorten(text))}, After: after}
	}
	a, err := d.build(args, r)
	if err != nil {
		a = say(Text(fmt.Sprintf("Script error in %q: %v (usage: %s)", shorten(text), err, d.usage)))
	}
	a.After = after
	for i, b := range a.Blocks {
		if after != "" && b.then != "" {
			a.Blocks[i].then += " ## " + after
		}
	}
	return a
}

// parse finds the directive of a text. `name: args` needs the colon and `name` stands alone (numbers may follow it), so that
// "plan the party" is no script.
func parse(text string) (d directive, args string, ok bool) {
	end := strings.IndexFunc(text, func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9') })
	if end < 0 {
		end = len(text)
	}
	d, ok = byName[text[:end]]
	args, colon := strings.CutPrefix(text[end:], ":")
	args = strings.TrimSpace(args)
	switch {
	case !ok:
		return d, "", false
	case strings.Contains(d.usage, ":"):
		return d, args, colon
	case strings.Contains(d.usage, "["):
		_, err := strconv.Atoi(args)
		return d, args, args == "" || err == nil
	}
	return d, "", args == ""
}

// shorten names a long text by its beginning, its length in bytes and its checksum: whether a 20 MB prompt came through
// whole shows without saying it all again.
func shorten(text string) string {
	if len(text) <= 4096 {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes, sha256 %x)", strings.ToValidUTF8(text[:64], ""), len(text), sha256.Sum256([]byte(text)))
}
