package scripted

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// arguments is what we honour of the CLI's command line. Everything else is accepted and ignored.
type arguments struct {
	version bool
	session string // --session-id, or what --resume names
	resumed string
	model   string
	mode    string
	partial bool
	replay  bool
	given   []string
}

func parseArguments(args []string) arguments {
	a := arguments{mode: "default", given: args}
	fork, ownID := false, ""
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		take := func() string {
			if !inline && i+1 < len(args) {
				i++
				value = args[i]
			}
			return value
		}
		switch name {
		case "--version", "-v":
			a.version = true
		case "--session-id":
			ownID = take()
		case "--resume", "-r":
			a.resumed = take()
		case "--fork-session":
			fork = true
		case "--model":
			a.model = take()
		case "--permission-mode":
			a.mode = take()
		case "--include-partial-messages":
			a.partial = true
		case "--replay-user-messages":
			a.replay = true
		}
	}
	a.session = ownID
	if a.resumed != "" && !fork {
		a.session = a.resumed
	}
	if a.mode == "manual" { // 2.1.329 offers the name and reports the old one
		a.mode = "default"
	}
	return a
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// answer deals with the command lines that never reach a conversation. The texts and codes are those of 2.1.329.
func (a arguments) answer(s *Script, stdout, stderr io.Writer) (code int, done bool) {
	if a.version {
		fmt.Fprintf(stdout, "%s (Claude Code)\n", s.version)
		return 0, true
	}
	for _, option := range s.unknownOptions {
		if slices.Contains(a.given, option) {
			fmt.Fprintf(stderr, "error: unknown option '%s'\n", option)
			return 1, true
		}
	}
	if a.session != "" && a.resumed == "" && !uuidPattern.MatchString(a.session) {
		fmt.Fprintln(stderr, "Error: Invalid session ID. Must be a valid UUID.")
		return 1, true
	}
	if a.resumed != "" && s.forgetful {
		message := "No conversation found with session ID: " + a.resumed
		fmt.Fprintln(stderr, message)
		o := event("result").str("subtype", "error_during_execution").int("duration_ms", 0).int("duration_api_ms", 0).
			bool("is_error", true).int("num_turns", 0).null("stop_reason").str("session_id", a.resumed).int("total_cost_usd", 0).
			raw("usage", turnUsage(ledger{})).raw("modelUsage", "{}").raw("permission_denials", "[]").
			str("uuid", "00000001-0000-4000-8000-000000000000").strings("errors", []string{message}).int("result_index", 0)
		_, _ = stdout.Write(append(o.end(), '\n'))
		return 1, true
	}
	return 0, false
}
