// Package bridge is the core: sessions, turns, permission questions and the claude process. It knows no JSON-RPC and no editor;
// the editor's side is a Client.
//
// A Session is the conversation. A Run is one life of the claude process; a Session outlives its Runs. A Turn is one answer of the
// model, to a user message or begun by the CLI itself.
//
// # The life of a turn
//
//	Session.Begin              the message takes its place in the queue: order is decided here
//	  next                     no turn runs, the CLI takes messages
//	    begin                  turn_start; one message at most is with the CLI, because CLIs join those they queue themselves
//	    Run.send               one line into the feed, which a goroutine writes to the CLI's stdin
//	Turn.Wait ─────────────────────────────────────────────────┐
//	Run.pump                   a line                          │
//	  Run.handle               Adapter.Decode → Client.Message │
//	    ended                  the result: is it ours?         │
//	      finish               withdrawals, usage, state, turn_complete
//	                           over ───────────────────────────┘
//	  <-answered               the pump stands still until the answer is out
//	Turn.Answered              what was held back is told; next
//
// A Session's mutex guards its state and the order in which the client is told of it. Turns begin in begin and end in finish, drop
// (a message that never left the queue) or ranOut (the process died), and nowhere else.
//
// # The life of a permission question
//
//	Run.handle                 can_use_tool r1
//	  permission               prompts[r1]; a goroutine of its own: the pump never waits for a person
//	    ask                    Client.Permission blocks ─ the editor answers
//	      judge                what is not clearly an allow denies
//	      settle               out of the table; prompt_resolved; one line to the CLI
//	withdrawn                  r1 taken back, the turn over, the session closed: the client's context ends, it takes its question
//	                           back, prompt_resolved
//
// The entry in the table is the right to settle: it is taken out once, so each question ends exactly once.
//
// # The end of a process
//
// There is one order everywhere: prompts are withdrawn, the turn is interrupted, the input is closed, SIGTERM, SIGKILL (see
// Run.shutdown), each with a second to make the next unnecessary. What the process has started goes with it: see package guard.
package bridge
