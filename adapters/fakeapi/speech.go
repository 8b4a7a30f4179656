package fakeapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// UnicodeText is what `unicode` and `escapes` answer: scripts of several widths and directions, combining and joined
// characters, characters beyond the basic plane, and those that JSON or JavaScript treat in a way of their own.
const UnicodeText = "naïve Ωmega 漢字 שלום e\u0301 👩‍🚀 𝄞 <&> \"quoted\" back\\slash tab\there \u2028 \u0001 \u007f end"

// SplitText is what `split` answers; its emoji come in two halves, one delta each.
const SplitText = "left 😀 middle 🚀 right"

func think(args string, _ Request) (Answer, error) {
	return say(Thinking(args), Text("Thought about it.")), nil
}

func tokens(args string, _ Request) (Answer, error) {
	n, err := strconv.Atoi(args)
	return say(Text(counted(n))), err
}

func slow(args string, _ Request) (Answer, error) {
	var n, ms int
	_, err := fmt.Sscan(args, &n, &ms)
	a := say(Text(counted(n)))
	a.Delay = time.Duration(ms) * time.Millisecond
	return a, err
}

// counted is "tok0 tok1 …", n words.
func counted(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "tok%d", i)
	}
	return b.String()
}

func big(args string, _ Request) (Answer, error) {
	n, err := strconv.Atoi(args)
	return say(Text(strings.Repeat("x", max(n, 0)))), err
}

func unicode(string, Request) (Answer, error) { return say(Text(UnicodeText)), nil }

func escapes(string, Request) (Answer, error) {
	b := Text(UnicodeText)
	for _, w := range words(UnicodeText) {
		b.deltas = append(b.deltas, `"`+escape(utf16.Encode([]rune(w)))+`"`)
	}
	return say(b), nil
}

func split(string, Request) (Answer, error) {
	b := Text(SplitText)
	var piece []uint16
	for _, unit := range utf16.Encode([]rune(SplitText)) {
		if unit >= 0xdc00 && unit <= 0xdfff { // the second half begins a new delta
			b.deltas = append(b.deltas, `"`+escape(piece)+`"`)
			piece = nil
		}
		piece = append(piece, unit)
	}
	b.deltas = append(b.deltas, `"`+escape(piece)+`"`)
	return say(b), nil
}

// escape writes UTF-16 as \uXXXX, but letters as they are.
func escape(units []uint16) string {
	var b strings.Builder
	for _, u := range units {
		if 'a' <= u && u <= 'z' || u == ' ' {
			b.WriteByte(byte(u))
		} else {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

func maxtok(string, Request) (Answer, error) {
	a := say(Text("cut off"))
	a.StopReason = "max_tokens"
	return a, nil
}

func refuse(string, Request) (Answer, error) { return Answer{StopReason: "refusal"}, nil }
