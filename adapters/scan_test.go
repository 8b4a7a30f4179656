package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// FuzzScan holds the scanner against encoding/json: it accepts the same texts, and finds the same members and elements in them.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `{"a":1}`, `{"a":{"b":[1,2,{"c":null}]},"d":"\u00e9\ud83d"}`, `[1,-0.5e+3,"x",true,false,null]`,
		`{"a":1,}`, `[1,]`, `{"a" 1}`, `{"\u0061":1,"a":2}`, `"\x"`, "\"\n\"", `01`, `-`, `1.`, `1e`, `tru`, `{"a":1}}`, ` { "a" : [ ] } `,
		`{"long":"` + strings.Repeat("é", 40) + `\\","b":1}`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
		strings.Repeat("[", 70) + `{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}" + strings.Repeat("]", 70),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := valid(b), json.Valid(b); got != want {
			t.Fatalf("valid(%q) = %t, encoding/json says %t", b, got, want)
		}
		var members map[string]json.RawMessage
		isObject := json.Unmarshal(b, &members) == nil && members != nil
		got := map[string]json.RawMessage{}
		o := object(b)
		for o.next() {
			got[string(o.key)] = o.val
		}
		if o.whole() != isObject {
			t.Fatalf("object(%q).ok = %t, encoding/json says %t", b, o.whole(), isObject)
		}
		if isObject && !reflect.DeepEqual(plainKeys(got), plainKeys(members)) {
			t.Fatalf("members of %q: %q, encoding/json finds %q", b, got, members)
		}
		var list []json.RawMessage
		isArray := json.Unmarshal(b, &list) == nil && list != nil
		a := array(b)
		n := 0
		for ; a.next(); n++ {
			if isArray && (n >= len(list) || !bytes.Equal(a.val, list[n])) {
				t.Fatalf("element %d of %q is %q", n, b, a.val)
			}
		}
		if a.whole() != isArray || isArray && n != len(list) {
			t.Fatalf("array(%q): ok %t, %d elements; encoding/json: %t, %d", b, a.whole(), n, isArray, len(list))
		}
		var s string
		if isString(trim(b)) && json.Unmarshal(b, &s) == nil && plain(str(trim(b))) != plain(s) {
			t.Fatalf("str(%q) = %q, encoding/json says %q", b, str(trim(b)), s)
		}
	})
}

// plain leaves out what is not UTF-8, which encoding/json replaces and the scanner lets stand.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\ufffd", "")
}

func plainKeys(m map[string]json.RawMessage) map[string]bool {
	c := map[string]bool{}
	for k, v := range m {
		c[plain(k)+"="+string(v)] = true
	}
	return c
}

func TestNestingIsFollowedAsDeepAsEncodingJSONGoesAndNoDeeper(t *testing.T) {
	for _, depth := range []int{1, 63, 64, 65, 127, 128, 129, 9999, 10000, 10001, 2_000_000} {
		for _, brackets := range []struct{ open, inner, close string }{{"[", "1", "]"}, {`{"a":`, "1", "}"}, {`[{"a":`, `"x"`, "}]"}} {
			text := []byte(strings.Repeat(brackets.open, depth) + brackets.inner + strings.Repeat(brackets.close, depth))
			if got, want := valid(text), json.Valid(text); got != want {
				t.Errorf("%s nested %d times: valid = %t, encoding/json says %t", brackets.open, depth, got, want)
			}
		}
	}
}

func TestSpansAreVerbatim(t *testing.T) {
	line := []byte(` { "a" : "\ud83d" , "b":[ 1 , {"c":"\\\""} ],"d":-1.50E+1} `)
	var got []string
	for o := object(line); o.next(); {
		got = append(got, fmt.Sprintf("%s=%s", o.key, o.val))
	}
	want := []string{`a="\ud83d"`, `b=[ 1 , {"c":"\\\""} ]`, `d=-1.50E+1`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStringsAreScannedAcrossEveryWordBoundary(t *testing.T) {
	for n := range 40 {
		plain := strings.Repeat("x", n)
		for _, tail := range []string{`"`, `\""`, `\\"`, `\u00e9"`, `é"`, "\x7f\"", "\x01\"", "\n\"", `\x"`, "", `\`} {
			text := []byte(`"` + plain + tail)
			if got, want := valid(text), json.Valid(text); got != want {
				t.Errorf("valid(%q) = %t, encoding/json says %t", text, got, want)
			}
		}
	}
}
