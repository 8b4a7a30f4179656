package bridge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/bridge/settings"
)

// playWithRules is play with a settings file of the user.
func playWithRules(t *testing.T, userFile, script string, f func(*stage)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if userFile != "" {
		if err := os.WriteFile(path, []byte(userFile), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	play(t, script, func(g *stage) {
		g.bridge.Settings, g.bridge.SettingsFile = settings.Open(path), path
		f(g)
	})
}

// answers makes a client that gives these answers, one after the other, and then denies.
func answers(g *stage, list ...Decision) {
	g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
		if len(list) == 0 {
			return Decision{Decision: "deny", Message: "no more answers"}, nil
		}
		d := list[0]
		list = list[1:]
		d.PromptID = p.ID
		return d, nil
	}
}

func TestARuleAllowsWithoutAQuestion(t *testing.T) {
	playWithRules(t, `{"permissions":{"allow":["Bash(touch *)"]}}`, scenes, func(g *stage) {
		g.say("bash touch a")
		want(t, g.editor.told("asked", "prompt", "decided", "result"), "decided allowed by rule Bash(touch *)\nresult ok")
	})
}

func TestADenyRuleForbidsAndSaysWhy(t *testing.T) {
	playWithRules(t, `{"permissions":{"allow":["Bash"],"deny":["Bash(touch *)"]}}`, scenes, func(g *stage) {
		r := g.say("bash touch a")
		want(t, g.editor.told("asked", "prompt", "decided"), "decided denied by rule Bash(touch *)")
		if !strings.Contains(g.editor.told("result"), "denied") {
			t.Errorf("told %s; the answer is %v", g.editor.told(), *r.Result)
		}
	})
}

func TestAnAskRuleAsksWhereClaudeWouldNot(t *testing.T) {
	playWithRules(t, `{"permissions":{"ask":["Bash(ls *)"]}}`, "-- x --\nmatch x\nbash ls -la\nrun\n", func(g *stage) {
		g.editor.permission = allow
		g.say("x")
		want(t, g.editor.told("asked", "prompt", "result"), "asked ls -la\nprompt_resolved allowed by user\nresult ok")
	})
}

func TestADenyRuleHoldsWhereClaudeWouldNotAsk(t *testing.T) {
	playWithRules(t, `{"permissions":{"deny":["Read(./.env)"]}}`, "-- x --\nmatch x\nread .env\nrun\n", func(g *stage) {
		g.say("x")
		want(t, g.editor.told("asked", "prompt", "decided", "result"), "decided denied by rule Read(./.env)\nresult denied")
	})
}

func TestAGrantForTheSessionIsNotAskedAgainEvenAfterARestart(t *testing.T) {
	playWithRules(t, "", scenes, func(g *stage) {
		answers(g, Decision{Decision: "allow", Scope: "session"})
		g.say("bash touch a")
		g.say("bash touch a")
		g.say("die")
		g.say("bash touch a")
		want(t, g.editor.told("asked", "prompt", "decided", "result"), `
asked touch a
prompt_resolved allowed by user
result ok
decided allowed by grant Bash(touch a)
result ok
decided allowed by grant Bash(touch a)
result ok`)
		rules := g.session.Rules()
		if len(rules) != 1 || rules[0].Uses != 2 || rules[0].CreatedAt == nil || rules[0].Scope != "session" {
			t.Errorf("rules %+v", rules)
			return
		}
		if err := g.session.Revoke(rules[0].RuleID); err != nil {
			t.Fatal(err)
		}
		g.say("bash touch a")
		if got := g.editor.told("asked"); got != "asked touch a\nasked touch a\n" {
			t.Errorf("after the grant was revoked: %s", got)
		}
	})
}

func TestAGrantForTheProjectIsSavedAndRevoked(t *testing.T) {
	playWithRules(t, `{"model":"opus"}`, scenes, func(g *stage) {
		answers(g, Decision{Decision: "allow", Scope: "project", Rules: []string{"Bash(touch *)"}})
		g.say("bash touch a")
		g.say("bash touch other")
		want(t, g.editor.told("asked", "decided"), "asked touch a\ndecided allowed by rule Bash(touch *)")
		data, _ := os.ReadFile(g.bridge.SettingsFile)
		if !strings.Contains(string(data), `"model":"opus"`) || !strings.Contains(string(data), "Bash(touch *)") {
			t.Errorf("the file is %s", data)
		}
		again, err := g.bridge.Open(SessionOptions{CWD: g.session.CWD(), CanAsk: true})
		if err != nil {
			t.Fatal(err)
		}
		if rules := again.Rules(); len(rules) != 1 || rules[0].Scope != "project" {
			t.Errorf("another session of the project sees %+v", rules)
		}
		if err := again.Revoke(again.Rules()[0].RuleID); err != nil {
			t.Fatal(err)
		}
		g.say("bash touch a")
		if got := g.editor.told("asked"); strings.Count(got, "asked") != 2 {
			t.Errorf("after the rule was revoked: %s", got)
		}
	})
}

func TestAGrantSettlesTheOtherOpenQuestionsItCovers(t *testing.T) {
	playWithRules(t, "", scenes, func(g *stage) {
		g.editor.permission = func(ctx context.Context, p *Prompt) (Decision, error) {
			if strings.Contains(p.View.Title, "/srv/pages/b") {
				time.Sleep(time.Second)
				return Decision{PromptID: p.ID, Decision: "allow", Scope: "session", Rules: []string{"Read(//srv/pages/**)"}}, nil
			}
			<-ctx.Done()
			g.editor.log("taken back")
			return Decision{}, ctx.Err()
		}
		g.say("two")
		want(t, g.editor.told("taken", "prompt"), "taken back\nprompt_resolved allowed by grant\nprompt_resolved allowed by user")
	})
}

func TestARuleThatDoesNotCoverTheCallIsNoAnswer(t *testing.T) {
	for _, rule := range []string{"Bash(rm *)", "Bash(", "Read(//etc/**)"} {
		playWithRules(t, "", scenes, func(g *stage) {
			answers(g, Decision{Decision: "allow", Scope: "session", Rules: []string{rule}})
			g.say("bash touch a")
			want(t, g.editor.told("notice", "prompt"), "notice warning answer_refused\nprompt_resolved denied by error")
			if rules := g.session.Rules(); len(rules) != 0 {
				t.Errorf("rules %+v", rules)
			}
		})
	}
}

func TestAnEditThatADenyRuleForbidsIsAskedAnew(t *testing.T) {
	playWithRules(t, `{"permissions":{"deny":["Bash(rm *)"]}}`, scenes, func(g *stage) {
		var again []string
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			again = append(again, p.Again)
			d := Decision{PromptID: p.ID, Decision: "allow"}
			if len(again) == 1 {
				d.UpdatedInput = json.RawMessage(`{"command":"rm -rf x"}`)
			}
			return d, nil
		}
		g.say("bash touch a")
		if strings.Join(again, ",") != ",denied_by_rule" {
			t.Errorf("asked %q", again)
		}
		want(t, g.editor.told("input", "prompt"), "prompt_resolved allowed by user")
	})
}

func TestAnAllowThatComesTooEarlyIsAskedAnew(t *testing.T) {
	playWith(t, scenes, SessionOptions{MinAnswer: 300 * time.Millisecond}, func(g *stage) {
		var again []string
		g.editor.permission = func(_ context.Context, p *Prompt) (Decision, error) {
			again = append(again, p.Again)
			if len(again) > 1 {
				time.Sleep(time.Second)
			}
			return Decision{PromptID: p.ID, Decision: "allow"}, nil
		}
		g.say("bash touch a")
		if strings.Join(again, ",") != ",too_early" {
			t.Errorf("asked %q", again)
		}
		want(t, g.editor.told("prompt"), "prompt_resolved allowed by user")
	})
}

func TestASettingsFileThatNoLongerParsesSuspendsEveryAllow(t *testing.T) {
	playWithRules(t, `{"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(rm *)"]}}`, scenes, func(g *stage) {
		g.say("bash touch a")
		if err := os.WriteFile(g.bridge.SettingsFile, []byte(`{"permissions":`), 0o600); err != nil {
			t.Fatal(err)
		}
		g.editor.permission = allow
		g.say("bash touch a")
		g.say("bash rm -rf x")
		want(t, g.editor.told("asked", "decided", "notice"), `
decided allowed by rule Bash(touch *)
notice warning settings
asked touch a
decided denied by rule Bash(rm *)`)
	})
}

func TestTheProjectsOwnFileCanForbidAndNotAllow(t *testing.T) {
	playWithRules(t, "", scenes, func(g *stage) {
		dir := filepath.Join(g.session.CWD(), ".drawbridge")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"permissions":{"allow":["Bash"],"deny":["Bash(rm *)"]}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		g.editor.permission = allow
		g.say("bash touch a")
		g.say("bash rm x")
		want(t, g.editor.told("asked", "decided"), "asked touch a\ndecided denied by rule Bash(rm *)")
		if !strings.Contains(g.editor.told("notice"), "project_settings") {
			t.Error("the allow in the project's file is not named")
		}
	})
}

func TestQuestionsAreNeverAnsweredByARule(t *testing.T) {
	playWithRules(t, `{"permissions":{"allow":["AskUserQuestion","ExitPlanMode","Bash"]}}`, scenes, func(g *stage) {
		g.editor.question = func(context.Context, *Prompt) (Answers, error) { return Answers{Declined: true}, nil }
		g.editor.permission = allow
		g.say("question")
		g.say("plan")
		want(t, g.editor.told("asked", "decided"), "asked Which database?\nasked Carry out the plan")
	})
}
