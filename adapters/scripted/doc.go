// Package scripted is the other end of the CLI: a deterministic stand-in for `claude` that speaks its NDJSON protocol on
// stdin and stdout, as version 2.1.329 was recorded to speak it, and answers from a script. The bridge's tests run it in their own
// process over io.Pipe, the editors' tests and the demo run it as a program.
//
//	host (the bridge)                           scripted
//	  {"type":"user",…}                 ──▶     the scene that matches the message is played:
//	                                    ◀──     system/init, stream_event …, assistant, …
//	                                    ◀──     control_request can_use_tool   (a tool the script asks for)
//	  control_response allow            ──▶
//	                                    ◀──     user[tool_result], …, result
//	  control_request interrupt         ──▶     in any state, with the lines the CLI would print
//
// # The script
//
// A script is a txtar archive. The text before its first file holds settings, each file is a scene, and a scene is a list of
// directives, one a line. Blank lines and lines that begin with # are skipped; indentation is free.
//
//	# How a build is fixed.
//	pace 20ms
//
//	-- fix --
//	match fix *
//	think The user wants $1 fixed.
//	text Let me look.
//	tool Read {"file_path":"main.go"}
//	result <<END
//		1	package main
//	END
//	text I will run the tests.
//	tool Bash {"command":"go test ./...","description":"Run the tests"}
//	ask
//	takes 2s
//	result ok
//	on deny {
//		text As you wish: $REASON
//	}
//	text Done with $1.
//
//	-- default --
//	text I can only fix things. You said: $PROMPT
//
// A scene answers the messages one of its `match` lines matches, or else the message that is its name; case does not
// matter and * stands for anything. The first scene that matches plays. The scene `default` answers what no other does (without it the
// message is echoed), and the scene `start` plays before the first line of stdin.
//
// Text that runs over several lines is written `<<END`, up to a line END; the indentation its lines share is taken off. $NAME stands for
//
//	$PROMPT             what the user wrote          $1 … $9           what the stars of `match` stood for
//	$REASON             why the last tool was denied $RESULT           what the last tool or agent said
//	$INPUT.command      a member of the last tool's input, as it ran
//	$ANSWER, $ANSWER.H  the answers to the last question, or the one under header H
//	$CONTEXT            what the last PostToolUse or UserPromptSubmit hook added
//	$FOLDED             the messages sent while a tool ran
//	$MODE, $MODEL, $SESSION, $CWD, and $$ for a dollar sign
//
// # Settings
//
//	version 2.1.329           what --version and system/init say
//	model NAME, cwd PATH      what is reported
//	seed N                    part of the made-up ids
//	pace 20ms                 between words; default 0
//	latency 1ms               before a turn begins, and before the model answers
//	initialize after 5s       answer `initialize` late
//	never initialize          … or never; also: ignore interrupt, ignore term, ignore eof
//	real                      Bash, Write, Edit and Read really happen, in the working directory
//	forget                    --resume finds no conversation
//	unknown option --NAME     exit as a CLI does that does not know this option
//	mcp NAME [STATUS]         an MCP server
//	rewind FILE …             what rewind_files would change
//
// # Saying something
//
//	text WORDS                streamed word by word; lines that follow each other are one block
//	think WORDS               the same as thinking
//	token "JSON string"       one token, verbatim: "\ud83d" stays half a pair
//	token bytes 50MB          one token of that size
//	tokens 1000000            a flood of tokens t0000000, t0000001, …
//	tokens 5000 every 1ms
//	whole WORDS               an answer that is not streamed
//	delay 50ms, hang          wait; an interrupt ends both
//	pace 5ms                  another pace for the rest of this answer
//	repeat 3 { … }
//
// # Tools
//
//	tool NAME {input}         Without more, Bash, Write and the like are asked for, reading ones run; the permission mode, rules the
//	                          host has added and its PreToolUse hooks are obeyed
//	bash COMMAND, read PATH, write PATH TEXT
//	todo [x] done; [>] in progress; [ ] pending
//	question {json}           or: question [Header] Which one? | label: description | label
//	plan WORDS
//	parallel { tool … }       tools of one message that ask all at once
//	tools { tool … }          … one after the other
//	subagent TYPE description { … }
//	subagent background TYPE description { … } then { … }
//	                          goes on after the result; `then` is the turn the CLI begins by itself
//
// and below a tool, more about it:
//
//	ask, run                  ask for it; do not
//	forbid MESSAGE            the CLI's own rules deny it
//	takes 2s                  so long it runs; it can be interrupted
//	spawn COMMAND             meanwhile a real child runs, in a session of its own
//	real                      really do it
//	result WORDS              what it says; result bytes 50MB; error WORDS: it failed
//	with {json}               set members of the can_use_tool request
//	on allow { … }, on deny { … }
//
// # Failing
//
//	retry 529 3 [every 1s]    api_retry lines, on the CLI's schedule; `connection` is a status too
//	fail 401 MESSAGE          the turn ends with an API error
//	abandon [quietly]         the message under way is cut and taken back; what follows is a new one
//	refuse, cutoff            a classifier or the token limit ends a message; what follows is a new one
//	limit turns, limit budget
//	compact                   the conversation is compacted
//	raw LINE                  any line: garbage, null, a type of the future
//	line bytes 50MB           a long line of an unknown type
//	half [TEXT]               a line that does not end
//	stderr TEXT, stderr bytes 20MB
//	exit CODE [MESSAGE], die  die is kill -9
//	ignore interrupt|term|eof from now on
//	mode NAME, title NAME     the mode or the title changes
//
// The commands /clear, /compact, /cost and /usage are carried out as the CLI does, unless a scene has that name.
//
// # Where it is not the CLI
//
// Ids are counters, model and prices are made up, and a turn that ends with a tool says "Done." because a model would say something. There is no
// conversation behind it: --resume takes any id. MCP servers are names only.
package scripted
