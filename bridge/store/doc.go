// Package store remembers sessions, turns and their usage in one SQLite file that all bridges of a user share.
//
// Nothing waits for the disk. What is saved goes into a queue in memory and the caller goes on:
//
//	Store.SaveTurn             into the queue; a session that is there already takes in what is new
//	Store.run                  the one goroutine that touches the file
//	  connect                  opened with the first thing to do, closed after a while without
//	  write                    all that is queued, in one transaction
//	Store.Sessions, …          a question for the same goroutine, which answers after it has written what was saved before
//
// A store that does not work costs what is remembered and never a turn: the user is told once, what was saved waits in a queue of
// limited length, and it is tried again. A damaged file is moved aside, never deleted, and what can still be read of it is taken over
// into a new one.
package store
