package policy

import (
	"slices"
	"unicode"
)

// certainty is the third value of matching: a text that is known only in part may match.
type certainty int

const (
	no       certainty = iota
	possible           // for some value of what is unknown
	sure               // whatever the unknown is
)

// Tokens of a text that are not runes. Text is a []rune in which these stand for what only the shell knows.
const (
	anyText rune = -1 - iota // ⍰: any text, blanks included, also none
	anyWord                  // a word that is ⍰ alone, with the blank before it: it may also vanish
	anyName                  // any text without a slash
)

// An element of a compiled pattern.
type element struct {
	kind elementKind
	r    rune
	set  func(rune) bool
}

type elementKind uint8

const (
	literal  elementKind = iota
	star                 // any text
	nameStar             // any text without a slash
	oneOf                // one rune of set
	dirsGate             // "**/": passes freely to the element after dirs, or into dirs
	dirs                 // inside "**/": leaves at a slash
)

// A pattern is a small automaton; its states are the indices of elems, plus one at the end. It is built from
// what rules may contain only, so that matching never backtracks.
type pattern struct {
	elems []element
	// tail is the state, besides the last, in which a text may end: a final " *" and a final "/**" are optional. -1 if none.
	tail int
}

// globText compiles the `*` patterns of Bash rules, fold for comparison without case.
func globText(s string, fold bool) *pattern {
	p := &pattern{tail: -1}
	for _, r := range s {
		switch {
		case r != '*':
			p.elems = append(p.elems, element{kind: literal, r: foldIf(r, fold)})
		case len(p.elems) == 0 || p.elems[len(p.elems)-1].kind != star:
			p.elems = append(p.elems, element{kind: star})
		}
	}
	if n := len(p.elems); n >= 2 && p.elems[n-1].kind == star && p.elems[n-2].kind == literal && p.elems[n-2].r == ' ' {
		p.tail = n - 2
	}
	return p
}

// add puts state i into the set together with the states that are reached from it without reading anything.
func (p *pattern) add(set []int, i int) []int {
	for !slices.Contains(set, i) {
		set = append(set, i)
		if i == len(p.elems) {
			break
		}
		switch p.elems[i].kind {
		case star, nameStar:
			i++
		case dirsGate:
			set = p.add(set, i+1)
			i += 2
		default:
			return set
		}
	}
	return set
}

// read returns the states after one known rune.
func (p *pattern) read(set []int, r rune) []int {
	var next []int
	for _, i := range set {
		if i == len(p.elems) {
			continue
		}
		switch e := &p.elems[i]; e.kind {
		case literal:
			if e.r == r {
				next = p.add(next, i+1)
			}
		case oneOf:
			if e.set(r) {
				next = p.add(next, i+1)
			}
		case star:
			next = p.add(next, i)
		case nameStar:
			if r != '/' {
				next = p.add(next, i)
			}
		case dirs:
			next = p.add(next, i)
			if r == '/' {
				next = p.add(next, i+1)
			}
		}
	}
	return next
}

// someText returns the states that some text can lead to: all that lie ahead, up to a slash that a name cannot hold.
func (p *pattern) someText(set []int, name bool) []int {
	var next []int
	for _, i := range set {
		for j := i; j <= len(p.elems); j++ {
			next = p.add(next, j)
			if name && j < len(p.elems) && p.elems[j].kind == literal && p.elems[j].r == '/' {
				break
			}
		}
	}
	return next
}

// everyText returns the states in which the pattern surely is, whatever the text was: only a star takes any text.
func (p *pattern) everyText(set []int, name bool) []int {
	var next []int
	for _, i := range set {
		if i == len(p.elems) {
			continue
		}
		if k := p.elems[i].kind; k == star || k == dirs || name && k == nameStar {
			next = p.add(next, i)
		}
	}
	return next
}

func (p *pattern) accepts(set []int) bool {
	return slices.Contains(set, len(p.elems)) || p.tail >= 0 && slices.Contains(set, p.tail)
}

// maxBranches bounds how many ways words that may vanish are followed; past it a match is not sure.
const maxBranches = 16

// match compares the whole text. The work done is taken from budget; a spent budget is possible, never sure.
func (p *pattern) match(text []rune, budget *int) certainty {
	set, exact := p.add(nil, 0), true
	for _, r := range text {
		if *budget--; *budget < 0 {
			return possible
		}
		switch r {
		case anyText, anyName:
			set, exact = p.someText(set, r == anyName), false
		case anyWord:
			for _, i := range p.someText(p.read(set, ' '), false) {
				set = p.add(set, i)
			}
			exact = false
		default:
			set = p.read(set, r)
		}
		if len(set) == 0 {
			return no
		}
	}
	switch {
	case !p.accepts(set):
		return no
	case exact || p.surely(text, budget):
		return sure
	}
	return possible
}

// surely follows every way the unknown can turn out; all have to end in acceptance.
func (p *pattern) surely(text []rune, budget *int) bool {
	branches := [][]int{p.add(nil, 0)}
	for _, r := range text {
		var next [][]int
		for _, set := range branches {
			if *budget--; *budget < 0 {
				return false
			}
			switch r {
			case anyText, anyName:
				set = p.everyText(set, r == anyName)
			case anyWord:
				next = addBranch(next, set)
				set = p.everyText(p.read(set, ' '), false)
			default:
				set = p.read(set, r)
			}
			if len(set) == 0 {
				return false
			}
			next = addBranch(next, set)
		}
		if branches = next; len(branches) > maxBranches {
			return false
		}
	}
	for _, set := range branches {
		if !p.accepts(set) {
			return false
		}
	}
	return true
}

func addBranch(branches [][]int, set []int) [][]int {
	set = slices.Clone(set)
	slices.Sort(set)
	for _, b := range branches {
		if slices.Equal(b, set) {
			return branches
		}
	}
	return append(branches, set)
}

// foldRune maps a rune to one representative of all that differ from it in case only: the smallest of its orbit.
// strings.ToLower would keep ſ and K (Kelvin) apart from s and k, which file systems do not.
func foldRune(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}

func foldIf(r rune, fold bool) rune {
	if fold && r > 0 {
		return foldRune(r)
	}
	return r
}

func foldText(text []rune) []rune {
	out := make([]rune, len(text))
	for i, r := range text {
		out[i] = foldIf(r, true)
	}
	return out
}

func foldString(s string) string { return string(foldText([]rune(s))) }
