package store

import (
	"reflect"
	"testing"
	"time"

	"drawbridge/adapters"
)

func TestUsageIsSummedUpByDaySessionModelAndDirectory(t *testing.T) {
	s, _ := open(t, newPath(t))
	s.SaveSession(session("a", 1))
	s.SaveSession(session("b", 1))
	s.SaveTurn(turn("t1", "a", 1))
	s.SaveTurn(turn("t2", "a", 2))
	last := turn("t3", "b", 3)
	last.Ended, last.CWD, last.Status, last.ErrorKind = at(3).AddDate(0, 0, 1), "/other", "failed", "overloaded"
	s.SaveTurn(last)
	s.SaveTurn(last) // again: it replaces the first
	want := map[string][]UsageRow{
		"":      {{Turns: 3, Usage: adapters.Usage{InputTokens: 30, OutputTokens: 15}, CostUSD: 0.75, DurationMS: 4500}},
		"day":   {{Key: "2026-03-02", Turns: 1, Usage: adapters.Usage{InputTokens: 10, OutputTokens: 5}, CostUSD: 0.25, DurationMS: 1500}, {Key: "2026-03-01", Turns: 2, Usage: adapters.Usage{InputTokens: 20, OutputTokens: 10}, CostUSD: 0.5, DurationMS: 3000}},
		"cwd":   {{Key: "/p", Turns: 2, Usage: adapters.Usage{InputTokens: 20, OutputTokens: 10}, CostUSD: 0.5, DurationMS: 3000}, {Key: "/other", Turns: 1, Usage: adapters.Usage{InputTokens: 10, OutputTokens: 5}, CostUSD: 0.25, DurationMS: 1500}},
		"model": {{Key: "sonnet", Turns: 3, Usage: adapters.Usage{InputTokens: 24, OutputTokens: 12}, CostUSD: 0.6000000000000001}, {Key: "haiku", Turns: 3, Usage: adapters.Usage{InputTokens: 6, OutputTokens: 3}, CostUSD: 0.15000000000000002}},
		"session": {{Key: "b", Title: "title of b", Turns: 1, Usage: adapters.Usage{InputTokens: 10, OutputTokens: 5}, CostUSD: 0.25, DurationMS: 1500},
			{Key: "a", Title: "title of a", Turns: 2, Usage: adapters.Usage{InputTokens: 20, OutputTokens: 10}, CostUSD: 0.5, DurationMS: 3000}},
	}
	for by, rows := range want {
		got, err := s.Usage(ctx(t), time.Time{}, by)
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("by %q: got %+v, %v\nwant %+v", by, got, err, rows)
		}
	}
	since, err := s.Usage(ctx(t), at(3), "")
	if err != nil || len(since) != 1 || since[0].Turns != 1 {
		t.Errorf("since: got %+v, %v", since, err)
	}
	if _, err := s.Usage(ctx(t), time.Time{}, "colour"); err == nil {
		t.Error("an unknown grouping was taken")
	}
}

func TestUsedIsTheDifferenceOfTwoCountsOfOneProcess(t *testing.T) {
	before := ModelUsages([]byte(`{"opus":{"inputTokens":10,"outputTokens":1,"costUSD":0.5},"haiku":{"inputTokens":3,"costUSD":0.1}}`))
	now := ModelUsages([]byte(`{"opus":{"inputTokens":15,"outputTokens":4,"costUSD":0.75,"webSearchRequests":0},"haiku":{"inputTokens":3,"costUSD":0.1},"sonnet":{"inputTokens":7}}`))
	want := []ModelUsage{{Model: "opus", Usage: adapters.Usage{InputTokens: 5, OutputTokens: 3}, CostUSD: 0.25}, {Model: "sonnet", Usage: adapters.Usage{InputTokens: 7}}}
	if got := Used(now, before); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := ModelUsages([]byte(`nonsense`)); got != nil {
		t.Errorf("got %+v", got)
	}
}
