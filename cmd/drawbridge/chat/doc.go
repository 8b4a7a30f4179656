// Package chat is a small terminal client of the Drawbridge protocol: what `drawbridge chat` runs. It launches a bridge as any
// editor does and knows nothing of it but package editor.
//
//	chat.go         Run: launch, initialize, converse, shut down
//	bridge.go       the connection: what the bridge says becomes work for the one goroutine that owns the screen
//	transcript.go   notifications → what is shown of them; tools.go, state.go the rest of it
//	card.go         what is asked, written out: permissions, plans, questions
//	plain.go        without a terminal: each line of input is a message; the tour that plays by itself
//	terminal.go     with a terminal: keys, the draft, the queue, Ctrl-C
//	dialog.go       what is asked and the keys that answer it; ask.go permissions, plans, questions, trust
//	paper.go        what is written on: a plain page, or
//	screen.go       a terminal: output above, a few live rows below
//	line.go keys.go editing a line, and what the bytes of a terminal mean
//	text.go         what may reach a terminal, and how wide it is
//
// # What a key may do
//
// A prompt must not be answered by a key that was meant for something else. A key counts only if it came alone, at
// least 300 ms after the prompt was on the screen and after the last key that did not count. Pasted text never answers.
//
// # What may reach the terminal
//
// Everything that is shown passes through plain, which leaves no control character but the line break: what a model or a tool says
// cannot move the cursor, change the title or write the clipboard.
package chat
