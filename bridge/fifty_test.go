package bridge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/adapters/scripted"
)

// TestFiftyPromptsAtOnceAndAnEditorThatDoesEverythingWrong: 51 prompts of three sessions are open at once. The editor answers in random
// order: rightly, wrongly, with another's prompt_id, with an error, too late or never, and is gone before the end. None is lost, none
// settled twice, none allowed that the editor has not allowed by its own id; and the audit says of each what became of it.
func TestFiftyPromptsAtOnceAndAnEditorThatDoesEverythingWrong(t *testing.T) {
	const sessions, each = 3, 17
	var script strings.Builder
	script.WriteString("-- many --\nmatch many *\nparallel {\n")
	for i := range each {
		fmt.Fprintf(&script, "\ttool Read {\"file_path\":\"/srv/$1/%d\"}\n\task\n", i)
	}
	script.WriteString("}\ntext Done.\n")
	parsed, err := scripted.Parse([]byte(script.String()))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		dir := t.TempDir()
		var resolved map[string]string
		synctest.Test(t, func(t *testing.T) {
			resolved = fifty(t, parsed, dir, path, seed, sessions, each)
		})
		records, foreign := written(t, path)
		if foreign != 0 || len(records) != sessions*each {
			t.Errorf("seed %d: the audit has %d records and %d other lines, there were %d prompts", seed, len(records), foreign, sessions*each)
		}
		for _, r := range records {
			if resolved[r.PromptID] != r.Outcome {
				t.Errorf("seed %d: the audit says that %s was %s, and it was %q", seed, r.PromptID, r.Outcome, resolved[r.PromptID])
			}
		}
	}
}

func fifty(t *testing.T, script *scripted.Script, dir, auditFile string, seed uint64, sessions, each int) map[string]string {
	r := rand.New(rand.NewPCG(seed, 50))
	var mu sync.Mutex
	open := map[string]bool{}       // prompt id
	meant := map[string]bool{}      // prompts that the editor has allowed, as it should be done
	resolved := map[string]string{} // how they ended
	var ids []string
	all, gone := make(chan struct{}), make(chan struct{})

	editor := &logClient{}
	editor.permission = func(ctx context.Context, p *Prompt) (Decision, error) {
		mu.Lock()
		open[p.ID] = true
		if ids = append(ids, p.ID); len(ids) == sessions*each {
			close(all)
		}
		mood, pause := r.IntN(7), time.Duration(r.IntN(5000))*time.Millisecond
		mu.Unlock()
		<-all
		select {
		case <-time.After(pause):
		case <-gone:
			return Decision{}, errors.New("the editor is gone")
		case <-ctx.Done():
			return Decision{}, ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		switch mood {
		case 0:
			return Decision{Decision: "deny", Message: "no"}, nil
		case 1:
			return Decision{PromptID: ids[r.IntN(len(ids))] + "x", Decision: "allow"}, nil // another's
		case 2:
			return Decision{PromptID: p.ID, Decision: "perhaps"}, nil
		case 3:
			return Decision{}, errors.New("something broke")
		case 4: // never, until the editor is gone
			mu.Unlock()
			defer mu.Lock()
			select {
			case <-gone:
				return Decision{}, errors.New("the editor is gone")
			case <-ctx.Done():
				return Decision{}, ctx.Err()
			}
		}
		meant[p.ID] = true
		return Decision{PromptID: p.ID, Decision: "allow"}, nil
	}
	editor.resolved = func(e PromptResolved) {
		mu.Lock()
		defer mu.Unlock()
		if old, twice := resolved[e.PromptID]; twice {
			t.Errorf("seed %d: %s was settled twice: %s, %s", seed, e.PromptID, old, e.Outcome)
		}
		resolved[e.PromptID] = e.Outcome
	}
	audit := OpenAudit(auditFile)
	b := New(Options{Client: editor, CLI: &stageCLI{script: script, version: "2.1.329"}, Audit: audit})
	var turns []*Turn
	for i := range sessions {
		s, err := b.Open(SessionOptions{CWD: dir, Trusted: true, Streaming: true, CanAsk: true, CanAnswer: true})
		if err != nil {
			t.Error(err)
			return nil
		}
		turn, err := s.Begin(UserMessage{Content: quoted(fmt.Sprintf("many s%d", i))})
		if err != nil {
			t.Error(err)
			return nil
		}
		turns = append(turns, turn)
	}
	time.Sleep(3 * time.Second) // half of the answers are in
	close(gone)
	for _, turn := range turns {
		if res := turn.Wait(context.Background()); res.Status != completed {
			t.Errorf("seed %d: %+v", seed, res)
		}
		turn.Answered()
	}
	b.Close(context.Background())
	_ = audit.Close()
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(open) != sessions*each || len(resolved) != len(open) {
		t.Errorf("seed %d: %d prompts were asked and %d settled", seed, len(open), len(resolved))
	}
	for id, outcome := range resolved {
		if (outcome == "allowed") != meant[id] {
			t.Errorf("seed %d: %s is %s; the editor has allowed it: %v", seed, id, outcome, meant[id])
		}
	}
	if len(meant) == 0 || len(meant) == len(open) {
		t.Errorf("seed %d: %d of %d were allowed: nothing is shown by that", seed, len(meant), len(open))
	}
	return resolved
}
