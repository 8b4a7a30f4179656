// Package policy decides what a permission rule says about a tool call, and says why.
//
// # The language in two minutes
//
// A rule is a tool's name, or a name with a specification in parentheses. It stands in one of three lists:
//
//	deny   Bash(rm *)           ask   Bash(git push *)      allow  Bash(npm run *)
//	deny   Read(./.env)         ask   mcp__github           allow  Edit(/src/**)
//	                                                        allow  WebFetch(domain:go.dev)
//
// A deny rule that matches denies; else an ask rule that matches asks; else allow rules that together cover the
// whole call allow; else the user is asked. Neither the order of rules nor how specific they are counts.
//
// # Allow needs proof, deny needs suspicion
//
// A command is only known in part: what `$x` or `*.go` will be is known to the shell alone. Such a piece of a word
// becomes ⍰, "any text", and a pattern then matches surely (whatever ⍰ is), possibly (for some ⍰) or not at all:
//
//	                 sure     possible
//	deny rule        deny     ask
//	ask rule         ask      ask
//	allow rule       covers   does not cover
//
// Nothing matched, nothing parsed and nothing to cover all mean: ask. So does everything this package does not
// understand, which makes a gap in it a question too many and never a command too many.
//
// # The life of a Bash call
//
//	Rules.Decide               decide.go    the three lists, and what no rule may answer (rule 27 of the tests)
//	  readScript               script.go    bounded parse, as Bash and, if the shell may be zsh, as Zsh
//	    resolveWord            word.go      quotes, backslashes, $'…' resolved; expansions become ⍰
//	  suspicion                suspect.go   deny and ask: through wrappers, into sh -c and here-documents
//	  proof                    proof.go     allow: shapes, options that run code (options.go), redirections (redirect.go)
//	  riskOf, propose, Visible risk.go, propose.go, display.go: what a prompt shows
//
// Paths (path.go) are always two: the name as written and where its symbolic links lead. A path is allowed if both
// are, denied if either is.
//
// # What is data
//
// The lists of wrappers, options that run code, protected paths, harmless variables and the risk table are text files
// under data/, read once at start-up by tables.go; each file explains its own format.
//
// # Purity
//
// The package starts nothing, opens nothing and keeps nothing but the rules. It asks the injected [FS] where symbolic
// links lead. That is what makes it possible to fuzz it, and to run a whole corpus of commands past it in a test.
package policy
