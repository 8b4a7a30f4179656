package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

//go:generate go test -run TestTheDocumentsAreThoseOfTheTable -update

// Schema is the JSON Schema (2020-12) of the user's settings file, docs/settings.schema.json.
func Schema() []byte {
	root := object("Settings of drawbridge")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	for _, k := range table {
		for _, name := range append([]string{k.name}, k.aliases...) {
			at, last := root, name
			if section, rest, ok := strings.Cut(name, "."); ok {
				properties := at["properties"].(map[string]any)
				if properties[section] == nil {
					properties[section] = object("")
				}
				at, last = properties[section].(map[string]any), rest
			}
			schema := maps.Clone(k.shape.schema)
			schema["description"] = strings.ReplaceAll(k.doc, "`", "")
			if k.def != nil {
				schema["default"] = k.inFile(k.def)
			}
			at["properties"].(map[string]any)[last] = schema
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic(err) // the table holds nothing that JSON cannot say
	}
	return b.Bytes()
}

func object(title string) map[string]any {
	o := map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
	if title != "" {
		o["title"] = title
	}
	return o
}

// inFile is a value as the file writes it.
func (k key) inFile(v any) any {
	if d, ok := v.(time.Duration); ok {
		return int64(d / k.shape.unit)
	}
	return v
}

// Table is the table of keys in docs/settings.md.
func Table() []byte {
	var b bytes.Buffer
	b.WriteString("| key | value | default | also set by | meaning |\n|---|---|---|---|---|\n")
	for _, k := range table {
		if k.hidden {
			continue
		}
		def, also := "–", "–"
		if k.def != nil {
			def = fmt.Sprintf("`%v`", k.inFile(k.def))
		}
		var ways []string
		if k.from.flag != "" {
			ways = append(ways, "`--"+k.from.flag+"`")
		}
		if k.from.option {
			ways = append(ways, "`options."+k.name+"`")
		}
		if len(ways) > 0 {
			also = strings.Join(ways, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, k.shape.expected, def, also, k.doc)
	}
	return b.Bytes()
}
