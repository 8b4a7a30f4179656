package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// question is one of AskUserQuestion's, with the answer it got.
type question struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Options  []struct {
		Label string `json:"label"`
	} `json:"options"`
	answer string
	given  bool
	own    bool // not one of the options
}

// questions reads input and answers; an answer may be a string or, for several choices, a list.
func questions(input []byte) []question {
	var in struct {
		Questions []question                 `json:"questions"`
		Answers   map[string]json.RawMessage `json:"answers"`
	}
	_ = json.Unmarshal(input, &in)
	for i := range in.Questions {
		q := &in.Questions[i]
		raw, given := in.Answers[q.Question]
		if !given {
			continue
		}
		q.given, q.answer = true, plain(raw)
		var list []string
		if json.Unmarshal(raw, &list) == nil {
			q.answer = strings.Join(list, ",")
		} else {
			list = strings.Split(q.answer, ", ")
		}
		for _, one := range list {
			if !slices.ContainsFunc(q.Options, func(o struct {
				Label string `json:"label"`
			}) bool {
				return o.Label == one
			}) {
				q.own = true
			}
		}
	}
	return in.Questions
}

// answersText is what the model is told.
func answersText(input []byte) string {
	var told []string
	own := false
	for _, q := range questions(input) {
		if q.given {
			told = append(told, fmt.Sprintf("%q=%q", q.Question, q.answer))
			own = own || q.own
		}
	}
	list := strings.Join(told, ", ")
	switch {
	case len(told) == 0:
		return "The user did not answer the questions."
	case own:
		return "The user answered: " + list + ". Read the answers carefully — they may request clarification, changes, or that you not proceed — " +
			"and follow what they actually say."
	}
	return "Your questions have been answered: " + list + ". You can now continue with these answers in mind."
}

// answers are the variables ANSWER (all of them) and ANSWER.<header>.
func answers(input []byte) map[string]string {
	vars := map[string]string{}
	var all []string
	for _, q := range questions(input) {
		if q.given {
			all = append(all, q.answer)
			vars["ANSWER."+q.Header] = q.answer
		}
	}
	vars["ANSWER"] = strings.Join(all, ", ")
	return vars
}
