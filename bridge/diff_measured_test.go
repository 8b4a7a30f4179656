package bridge

import "strings"

// measured are calls and what the real CLIs were seen to leave in the file; "!" means that the tool fails, or that what it does can
// not be shown. Where the versions differ, the results are those of 2.1.17, 2.1.112 and 2.1.329.
var measured = []struct {
	name   string
	before string // "-": there is no file
	tool   string
	old    string // or the cell of NotebookEdit
	new    string
	all    bool
	after  []string
}{
	{"LF stays", "a\nb\nc\n", "Edit", "b", "B", false, []string{"a\nB\nc\n"}},
	{"CRLF stays", "a\r\nb\r\nc\r\n", "Edit", "a\nb", "A\nX\nB", false, []string{"A\r\nX\r\nB\r\nc\r\n"}},
	{"CRLF in old_string is not found", "a\r\nb\r\n", "Edit", "a\r\nb", "x", false, []string{"!"}},
	{"CRLF can be put into a file with LF", "a\nb\n", "Edit", "a", "A\r\nB", false, []string{"A\r\nB\nb\n"}},
	{"mixed line ends become those of the most", "a\nb\nc\nd\r\n", "Edit", "b", "B", false, []string{"a\nB\nc\nd\n"}},
	{"mixed line ends, mostly CRLF", "a\r\nb\r\nc\n", "Edit", "b", "B", false, []string{"a\r\nB\r\nc\r\n"}},
	{"as many of each: LF", "a\r\nb\n", "Edit", "b", "B", false, []string{"a\nB\n"}},
	{"a lone CR is no line end", "a\rb\r", "Edit", "b", "B", false, []string{"a\rB\r"}},
	{"CR CR LF", "a\r\r\nb\r\n", "Edit", "b", "d", false, []string{"a\r\r\nd\r\n", "a\r\nd\r\n"}},
	{"line ends beyond the sample", strings.Repeat("x", 4100) + "\r\nZ", "Edit", "Z", "d", false, []string{strings.Repeat("x", 4100) + "\nd"}},
	{"the sample is bytes, then UTF-16 units", strings.Repeat("é", 3000) + "\r\nx", "Edit", "x", "y", false,
		[]string{strings.Repeat("é", 3000) + "\ny", strings.Repeat("é", 3000) + "\r\ny"}},
	{"CR at the very end of the sample", strings.Repeat("a", 4095) + "\r\nx", "Edit", "x", "y", false, []string{strings.Repeat("a", 4095) + "\ny"}},
	{"no final newline", "a\nb", "Edit", "b", "B", false, []string{"a\nB"}},
	{"a deleted line goes with its end", "a\nb\nc\n", "Edit", "b", "", false, []string{"a\nc\n"}},
	{"the last line has no end to go", "a\nb", "Edit", "b", "", false, []string{"a\n"}},
	{"all lines go with their ends", "b\nb\nc b\n", "Edit", "b", "", true, []string{"c "}},
	{"the end is asked for", "a\nb\n", "Edit", "b\n", "", false, []string{"a\n"}},
	{"everything", "abc", "Edit", "abc", "", false, []string{""}},
	{"not found", "a\n", "Edit", "zzz", "B", false, []string{"!"}},
	{"several", "b\nb\n", "Edit", "b", "B", false, []string{"!"}},
	{"several, all", "b\nb\n", "Edit", "b", "B", true, []string{"B\nB\n"}},
	{"all, overlapping", "aaa\n", "Edit", "aa", "b", true, []string{"ba\n"}},
	{"the same", "a\n", "Edit", "a", "a", false, []string{"!"}},
	{"a dollar has no meaning", "a b\n", "Edit", "b", "$& $1 $$ $`", false, []string{"a $& $1 $$ $`\n"}},
	{"a new file", "-", "Edit", "", "hello\n", false, []string{"hello\n"}},
	{"an empty file counts as new", "", "Edit", "", "hello", false, []string{"hello"}},
	{"so does a blank one", "  \n\n", "Edit", "", "hello", false, []string{"hello"}},
	{"one with text does not", "a\n", "Edit", "", "hello", false, []string{"!"}},
	{"no file", "-", "Edit", "a", "b", false, []string{"!"}},
	{"typographic quotes", "say “hello” it’s\n", "Edit", `say "hello" it's`, `say "bye" it's`, false,
		[]string{"say \"bye\" it's\n", "say “bye” it’s\n"}},
	{"quotes open and close", "“a”\n", "Edit", `"a"`, `x "b" ("c") -"d" —"e" k"l`, false,
		[]string{"x \"b\" (\"c\") -\"d\" —\"e\" k\"l\n", "x “b” (“c”) -”d” —“e” k”l\n"}},
	{"only the kind of quote that is there", "“a”\n", "Edit", `"a"`, `"b" it's`, false, []string{"\"b\" it's\n", "“b” it's\n"}},
	{"a quote behind another closes", "“a’\n", "Edit", `"a'`, `"'b'"`, false, []string{"\"'b'\"\n", "“’b’”\n"}},
	{"quotes as they are", "a “b” a \"b\"\n", "Edit", `"b"`, `"c"`, false, []string{"a “b” a \"c\"\n"}},
	{"the first kind of quotes, everywhere", "a “b” a \"b” \n", "Edit", `"b"`, `"c"`, true, []string{"a \"c\" a \"b” \n", "a “c” a \"b” \n"}},
	{"other quotes are other letters", "„a“\n", "Edit", `"a"`, "b", false, []string{"!"}},
	{"an escape for a letter", "a \\u00e9 b\n", "Edit", "é b", "x", false, []string{"!"}},
	{"a blank is not a no-break space", "a\u00a0b\n", "Edit", "a b", "x", false, []string{"!"}},
	{"the byte order mark stays", "\ufeffa\nb\n", "Edit", "a", "A", false, []string{"\ufeffA\nb\n"}},
	{"the byte order mark cannot be seen", "\ufeffa\n", "Edit", "\ufeffa", "x", false, []string{"x\n", "x\n", "!"}},
	{"a file of a byte order mark", "\ufeff", "Edit", "", "y", false, []string{"y", "y", "\ufeffy"}},
	{"UTF-16", utf16le("\ufeffa\nbé\n"), "Edit", "b", "Bü", false, []string{"\ufeffa\nBüé\n"}},
	{"UTF-16 with CRLF", utf16le("\ufeffa\r\nbé\r\n"), "Edit", "b", "B", false, []string{"\ufeffa\nBé\n", "\ufeffa\r\nBé\r\n"}},
	{"Latin-1", "a\nb\xe9\nc\n", "Edit", "c", "C", false, []string{"!"}},
	{"NUL", "a\nb\x00\n", "Edit", "b", "C", false, []string{"!"}},
	{"half a pair", "\xff\xfea\x00\x00\xd8b\x00", "Edit", "a", "C", false, []string{"!"}},

	{"write", "-", "Write", "", "q  ", false, []string{"q  "}},
	{"write over LF", "a\nb\n", "Write", "", "x\r\ny\n", false, []string{"x\r\ny\n"}},
	{"write over CRLF", "a\r\nb\r\n", "Write", "", "x\ny\n", false, []string{"x\r\ny\r\n", "x\ny\n"}},
	{"write CRLF over CRLF", "a\r\nb\r\n", "Write", "", "x\r\ny\r\n", false, []string{"x\r\r\ny\r\r\n", "x\r\ny\r\n"}},
	{"write over a byte order mark", "\ufeffa\n", "Write", "", "x\n", false, []string{"x\n", "x\n", "\ufeffx\n"}},
	{"write nothing over a byte order mark", "\ufeffa\n", "Write", "", "", false, []string{""}},
	{"write two byte order marks", "\ufeffa\n", "Write", "", "\ufeffx", false, []string{"\ufeffx"}},
	{"write over UTF-16", utf16le("\ufeffa\n"), "Write", "", "ü\n", false, []string{"ü\n", "ü\n", "\ufeffü\n"}},
	{"write over Latin-1", "\xe9\n", "Write", "", "x", false, []string{"!"}},
	{"write 漢 into an empty file", "", "Write", "", "漢", false, []string{"!", "漢"}},

	{"a cell", `{"cells":[{"id":"a","cell_type":"code","source":"z","outputs":[{"x":1}],"execution_count":7}],"metadata":{}}` + "\n", "NotebookEdit", "a", "q\r\n", false,
		[]string{notebookA, notebookA, notebookA + "\n"}},
	{"a cell without outputs", `{"metadata":{},"cells":[{"source":["z"],"cell_type":"code"}]}`, "NotebookEdit", "cell-0", "q", false,
		[]string{"{\n \"metadata\": {},\n \"cells\": [\n  {\n   \"source\": \"q\",\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"outputs\": []\n  }\n ]\n}"}},
	{"JavaScript's numbers, keys and escapes",
		`{"cells":[{"id":"a","cell_type":"raw","source":"z"}],"metadata":{"n":[1.50,1E5,1e21,123456789012345678901234,0.000001,0.0000001,1e400,-0,5e-324],"b":1,"02":1,"4294967295":1,"10":1,"2":1,"b":2,"é":"\u00e9\u2028\/\u007f\u0001\b\"\\u2028"}}`,
		"NotebookEdit", "a", "z", false, []string{"{\n \"cells\": [\n  {\n   \"id\": \"a\",\n   \"cell_type\": \"raw\",\n   \"source\": \"z\"\n  }\n ],\n \"metadata\": {\n" +
			"  \"2\": 1,\n  \"10\": 1,\n  \"n\": [\n   1.5,\n   100000,\n   1e+21,\n   1.2345678901234569e+23,\n   0.000001,\n   1e-7,\n   null,\n   0,\n   5e-324\n  ],\n" +
			"  \"b\": 2,\n  \"02\": 1,\n  \"4294967295\": 1,\n  \"é\": \"é\u2028/\u007f\\u0001\\b\\\"\\\\u2028\"\n }\n}"}},
	{"no such cell", `{"cells":[],"metadata":{}}`, "NotebookEdit", "cell-0", "q", false, []string{"!"}},
	{"no metadata", `{"cells":[{"source":"","cell_type":"raw"}]}`, "NotebookEdit", "cell-0", "q", false,
		[]string{"!", "!", "{\n \"cells\": [\n  {\n   \"source\": \"q\",\n   \"cell_type\": \"raw\"\n  }\n ]\n}"}},
	{"a notebook with a byte order mark", "\ufeff" + `{"cells":[{"source":"","cell_type":"raw"}],"metadata":{}}`, "NotebookEdit", "cell-0", "q", false, []string{"!"}},
	{"half a pair in a notebook", `{"cells":[{"source":"\ud800","cell_type":"raw"}],"metadata":{}}`, "NotebookEdit", "cell-0", "q", false, []string{"!"}},
	{"no JSON", `{"cells":[`, "NotebookEdit", "cell-0", "q", false, []string{"!"}},
}

const notebookA = "{\n \"cells\": [\n  {\n   \"id\": \"a\",\n   \"cell_type\": \"code\",\n   \"source\": \"q\\r\\n\",\n   \"outputs\": [],\n   \"execution_count\": null\n  }\n ],\n \"metadata\": {}\n}"
