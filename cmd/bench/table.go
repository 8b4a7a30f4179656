package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is what was measured.
type table struct {
	Machine string `json:"machine"`
	Quick   bool   `json:"quick"`
	Rows    []row  `json:"rows"`
}

// row is one figure. Reach is what it should be at most; Met is absent where none is set.
type row struct {
	Name       string   `json:"name"`
	Unit       string   `json:"unit"`
	Drawbridge float64  `json:"drawbridge"`
	Baseline   *float64 `json:"baseline,omitempty"`
	Of         string   `json:"of,omitempty"` // what the baseline is
	Ratio      *float64 `json:"ratio,omitempty"`
	Reach      string   `json:"reach,omitempty"`
	Met        *bool    `json:"met,omitempty"`
}

// value adds a figure without a baseline; limit is its reach, 0 if there is none.
func (t *table) value(name, unit string, v, limit float64) {
	r := row{Name: name, Unit: unit, Drawbridge: v}
	if limit > 0 {
		r.Reach = fmt.Sprintf("≤ %s %s", figure(limit), unit)
		r.met(v <= limit)
	}
	t.Rows = append(t.Rows, r)
}

// compare adds a figure beside its baseline. It should be at most times the baseline, plus extra in its own unit; times 0 says
// nothing.
func (t *table) compare(name, unit string, v, baseline float64, of string, times, extra float64) {
	ratio := v / baseline
	r := row{Name: name, Unit: unit, Drawbridge: v, Baseline: &baseline, Of: of, Ratio: &ratio}
	if times > 0 {
		r.Reach = fmt.Sprintf("≤ %s×", figure(times))
		if extra > 0 {
			r.Reach += fmt.Sprintf(" + %s %s", figure(extra), unit)
		}
		r.met(v <= times*baseline+extra)
	}
	t.Rows = append(t.Rows, r)
}

func (r *row) met(ok bool) { r.Met = &ok }

func (t *table) print(out io.Writer) {
	fmt.Fprintln(out, t.Machine)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tdrawbridge\tbaseline\tratio\treach\tmet")
	for _, r := range t.Rows {
		cells := []string{r.Name, figure(r.Drawbridge) + " " + r.Unit, "", "", r.Reach, ""}
		if r.Baseline != nil {
			cells[2] = figure(*r.Baseline) + " " + r.Unit + " (" + r.Of + ")"
			cells[3] = figure(*r.Ratio) + "×"
		}
		if r.Met != nil {
			cells[5] = map[bool]string{true: "yes", false: "NO"}[*r.Met]
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
}

// figure writes a number with three digits that count.
func figure(v float64) string {
	digits := 0
	if v != 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	s := fmt.Sprintf("%.*f", min(digits, 3), v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// percentile returns the p-th percentile; it sorts v.
func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return v[min(len(v)-1, int(p/100*float64(len(v))))]
}

func median(v []float64) float64 { return percentile(v, 50) }
