package adapters

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Question is one question of an AskUserQuestion tool use (2.1.17 on).
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	MultiSelect bool     `json:"multi_select"`
	Options     []Option `json:"options"`
}

// Option is an answer the model proposes. The user may also write one.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// ParseQuestions reads the questions of an AskUserQuestion input.
func ParseQuestions(input json.RawMessage) ([]Question, error) {
	list := member(input, "questions")
	if !isArray(list) {
		return nil, errors.New("the input has no questions")
	}
	questions := []Question{}
	for e := array(list); e.next(); {
		q := Question{Options: []Option{}}
		for o := object(e.val); o.next(); {
			switch string(o.key) {
			case "question":
				q.Question = str(o.val)
			case "header":
				q.Header = str(o.val)
			case "multiSelect":
				q.MultiSelect = isTrue(o.val)
			case "options":
				for f := array(o.val); f.next(); {
					q.Options = append(q.Options, Option{Label: str(member(f.val, "label")), Description: str(member(f.val, "description"))})
				}
			}
		}
		if q.Question == "" {
			return nil, errors.New("a question without text")
		}
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		return nil, errors.New("the input has no questions")
	}
	return questions, nil
}

// AnswerInput is the input with which an AskUserQuestion tool use is allowed: as it was, with the answers by the text of their
// question. An answer is a string, or a list of them, which is joined by ", " as all versions understand it. A question may be left
// out; an answer to a question that was not asked is an error.
func AnswerInput(input json.RawMessage, answers map[string]json.RawMessage) (json.RawMessage, error) {
	questions, err := ParseQuestions(input)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(answers))
	for q, raw := range answers {
		if texts[q], err = answerText(raw); err != nil {
			return nil, fmt.Errorf("answer to %q: %w", q, err)
		}
	}
	dst := []byte{'{'}
	for o := object(input); o.next(); {
		if string(o.key) == "answers" {
			continue
		}
		dst = appendString(dst, string(o.key))
		dst = append(dst, ':')
		dst = append(dst, o.val...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"answers":{`...)
	given := 0
	for _, q := range questions {
		text, ok := texts[q.Question]
		if !ok {
			continue // unanswered, or answered together with one of the same text
		}
		delete(texts, q.Question)
		if given > 0 {
			dst = append(dst, ',')
		}
		given++
		dst = appendString(dst, q.Question)
		dst = append(dst, ':')
		dst = appendString(dst, text)
	}
	for q := range texts {
		return nil, fmt.Errorf("an answer to %q, which was not asked", q)
	}
	return append(dst, "}}"...), nil
}

func answerText(raw []byte) (string, error) {
	if !valid(raw) {
		return "", errors.New("not valid JSON")
	}
	raw = trim(raw)
	if isString(raw) {
		return str(raw), nil
	}
	if !isArray(raw) {
		return "", errors.New("neither a string nor a list of strings")
	}
	var list []string
	for e := array(raw); e.next(); {
		if !isString(e.val) {
			return "", errors.New("neither a string nor a list of strings")
		}
		list = append(list, str(e.val))
	}
	return strings.Join(list, ", "), nil
}

// Plan is the plan of an ExitPlanMode input, empty if it is not in there: 2.1.329 keeps it in a file and sends {}.
func Plan(input json.RawMessage) string { return str(member(input, "plan")) }
