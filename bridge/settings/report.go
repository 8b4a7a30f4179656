package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Report is what `drawbridge config` prints: each key with its value and where that comes from, then the problems.
type Report struct {
	File     string       `json:"file"`
	Settings []ReportLine `json:"settings"`
	Problems []Problem    `json:"problems"`
}

// ReportLine is one key of a Report.
type ReportLine struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // null: not set
	Origin string `json:"origin"`
}

// Hidden stands for a value that may be a secret.
const Hidden = "‹hidden›"

// NewReport reports the settings s that were resolved from f. reveal returns the value of an environment variable as
// it may be shown; nil hides all of them.
func NewReport(f File, s *Settings, reveal func(name, value string) string) Report {
	if reveal == nil {
		reveal = func(string, string) string { return Hidden }
	}
	r := Report{File: f.Path, Settings: []ReportLine{}, Problems: append([]Problem{}, f.Problems...)}
	for _, k := range table {
		if k.hidden || k.name == "projects" {
			continue
		}
		r.Settings = append(r.Settings, ReportLine{k.name, s.shown(k, reveal), s.Origin(k.name)})
	}
	for _, path := range slices.Sorted(maps.Keys(s.Projects)) {
		p, name := s.Projects[path], "projects["+strconv.Quote(path)+"]"
		line := func(key string, value any) {
			r.Settings = append(r.Settings, ReportLine{name + "." + key, value, s.Origin("projects")})
		}
		if p.Trusted != nil {
			line("trusted", *p.Trusted)
		}
		for _, list := range []List{Deny, Ask, Allow} {
			if rules := p.Permissions.list(list); len(rules) > 0 {
				line("permissions."+string(list), texts(rules))
			}
		}
	}
	return r
}

// shown is the value of a key in the form it has in the file.
func (s *Settings) shown(k key, reveal func(name, value string) string) any {
	if k.field == nil {
		_, list, _ := strings.Cut(k.name, ".")
		return texts(s.Permissions.list(List(list)))
	}
	switch v := k.field(s).(type) {
	case *time.Duration:
		return int64(*v / k.shape.unit)
	case *map[string]string:
		env := make(map[string]string, len(*v))
		for name, value := range *v {
			env[name] = reveal(name, value)
		}
		return env
	case *[]string:
		words := append([]string{}, *v...)
		for i, word := range words {
			// docker exec -e NAME=value …
			if name, value, ok := strings.Cut(word, "="); ok && i > 0 {
				words[i] = name + "=" + reveal(strings.TrimLeft(name, "-"), value)
			}
		}
		return words
	case *string:
		if *v == "" {
			return nil
		}
		return *v
	case *bool:
		return *v
	case *int64:
		return *v
	}
	panic("settings: no form for " + k.name)
}

// WriteText writes the report for people: aligned columns, and below them the problems.
func (r Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", plain(r.File))
	rows := make([][3]string, 0, len(r.Settings))
	var width [2]int
	for _, line := range r.Settings {
		row := [3]string{plain(line.Key), plain(compact(line.Value)), plain(line.Origin)}
		rows = append(rows, row)
		for i := range width {
			// A long value does not push the origin of all others out of sight.
			width[i] = max(width[i], min(utf8.RuneCountInString(row[i]), 48))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", width[0], row[0], width[1], row[1], row[2])
	}
	for i, p := range r.Problems {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", p)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func compact(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func texts(rules []Rule) []string {
	list := make([]string, len(rules))
	for i, rule := range rules {
		list[i] = rule.Text
	}
	return list
}
