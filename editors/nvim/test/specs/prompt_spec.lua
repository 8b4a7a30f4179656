local bash = [[
-- default --
bash go test ./...
result ok
on allow {
	text It ran: $INPUT.command
}
on deny {
	text It did not: $REASON
}
]]

local two = [[
-- default --
parallel {
	bash echo one
	result one
	bash echo two
	result two
}
text Both are over.
]]

it("a key on the prompt allows once", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pa")
  c:idle()
  has(c:chat(), "It ran: go test ./...")
end)

it("a key away from the prompt does what it always does", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("<C-w>kgg")
  c:keys("adA?<Esc>")
  c:keys("<C-w>j")
  c:keys("aaaa<Esc>")
  eq("aaa", c:lua([[return require("drawbridge.session").current.view:draft()]]))
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
end)

it("keys typed before the prompt was looked at do not count, and start the wait again", { script = bash }, function(c)
  c:lua([[require("drawbridge.config").get().settle_ms = 1500]])
  c:say("go")
  c:wait([[return #require("drawbridge.prompt").open == 1]])
  c:keys("]paaaa")
  c:see("too early")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
  c:asked(1)
  c:keys("a")
  c:idle()
  has(c:chat(), "It ran")
end)

it("a prompt that is not on the screen takes no key", { script = bash }, function(c)
  c:command("Drawbridge")
  c:lua([[require("drawbridge").close()]])
  c:lua([[require("drawbridge.session").current:send("go")]])
  c:wait([[return #require("drawbridge.prompt").open == 1]])
  vim.wait(700)
  eq(false, c:lua([[return require("drawbridge.prompt").open[1].settled]]))
  c:command("Drawbridge")
  c:asked(1)
end)

it("denying with a reason tells Claude", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pD")
  c:enter("Tell Claude why not", "use make")
  c:idle()
  has(c:chat(), "It did not: use make")
  has(table.concat(c:screen(), "\n"), "✗ $ go test ./...   denied")
end)

it("giving no reason answers nothing", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pD")
  c:enter("Tell Claude why not", nil)
  c:see("nothing was answered")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
end)

it("two prompts are answered each by itself, in any order", { script = two }, function(c)
  c:say("go")
  c:asked(2)
  c:keys("]p]p")
  c:wait([[return require("drawbridge.prompt").at_cursor().params.command == "echo two"]])
  c:keys("d")
  c:wait([[return #require("drawbridge.prompt").open == 1]])
  c:keys("[p")
  c:wait([[local p = require("drawbridge.prompt").at_cursor() return p and p.params.command == "echo one"]])
  c:keys("a")
  c:idle()
  has(c:chat(), "Both are over.")
end)

it("interrupting takes the prompts away with a note", { script = two }, function(c)
  c:say("go")
  c:asked(2)
  c:command("Drawbridge interrupt")
  c:idle()
  has(table.concat(c:screen(), "\n"), "✗ ")
  eq({}, c:lua([[return require("drawbridge.prompt").open]]))
end)

it("the command is edited before it is allowed", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pe")
  c:see("Edit the command")
  vim.wait(400)
  c:keys("A -run Lamp<Esc>")
  c:keys(":w<CR>")
  c:see("nothing is accepted by writing")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
  c:keys("ga")
  c:idle()
  has(c:chat(), "It ran: go test ./... -run Lamp")
  eq(1, c:lua([[return #vim.api.nvim_list_tabpages()]]))
end)

it("closing the edited command answers nothing", { script = bash }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pe")
  c:see("Edit the command")
  c:keys(":q!<CR>")
  c:see("the question is still open")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
end)

it("vim.ui.select answers too, and its first choice answers nothing", { script = bash, options = { prompt_style = "select" } }, function(c)
  c:say("go")
  c:wait([[return _G.ui ~= nil]])
  vim.wait(400)
  c:choose("Claude asks", 5)
  c:idle()
  has(c:chat(), "It ran")
end)

it("the autocmd and the status line tell of a question", { script = bash }, function(c)
  c:lua([[
    vim.api.nvim_create_autocmd("User", { pattern = "DrawbridgePrompt", callback = function(e) _G.told = e.data end })
  ]])
  c:say("go")
  c:asked(1)
  eq("go test ./...", c:lua([[return _G.told.title]]))
  eq("Claude: 1 question", c:lua([[return require("drawbridge").statusline()]]))
end)

it("invisible characters are shown", { script = '-- default --\ntool Bash {"command":"echo \\u202e hidden"}\nresult ok\n' }, function(c)
  c:say("go")
  c:asked(1)
  has(c:chat(), "‹U+202E›")
end)

it("all of a long command is shown before it can be allowed", {
  script = '-- default --\ntool Bash {"command":"' .. ("echo line\\n"):rep(60) .. 'rm -rf last"}\nresult ok\ntext Over.\n',
}, function(c)
  c:say("go")
  c:wait([[return #require("drawbridge.prompt").open == 1]])
  has(c:chat(), "\n    rm -rf last")
  c:lua([[vim.api.nvim_set_current_win(require("drawbridge.session").current.view.text_win)]])
  c:keys("gg]p")
  vim.wait(600)
  c:keys("a")
  c:see("not all of the question was on the screen")
  c:keys("Gk")
  c:asked(1)
  c:keys("a")
  c:idle()
  has(c:chat(), "Over.")
end)

--- A request as a newer bridge sends it.
local function ask(c, extra)
  c:command("Drawbridge")
  c:wait([[return require("drawbridge.session").current.id]])
  c:lua(
    [[
    local s = require("drawbridge.session").current
    local request = vim.tbl_extend("force", { prompt_id = "p_1", tool_use_id = "t_1", tool = "Bash", kind = "execute", title = "npm install express",
      display = "npm install express", input = { command = "npm install express" }, command = "npm install express", editable = { "command" },
      flags = {}, risk_level = "medium", reason = { source = "default", text = "no rule covers npm install express" },
      scopes = { "once", "session", "project", "user" }, rules = { "Bash(npm install *)" }, modes = {} }, ...)
    _G.answers = {}
    s:ask("permission_request", request, function(result, err) table.insert(_G.answers, result or { error = err }) end)
  ]],
    extra or {}
  )
  c:asked(1)
  c:keys("]p")
end

it("s allows for the session, A for the project, where it is offered", {}, function(c)
  ask(c)
  c:keys("s")
  eq({ { prompt_id = "p_1", decision = "allow", scope = "session" } }, c:wait([[return #_G.answers > 0 and _G.answers]]))
end)

it("where the risk is high, s shows the rule and wants a second key", {}, function(c)
  ask(c, { risk_level = "high", rules = { "Bash(rm *)" } })
  c:keys("s")
  c:see("To allow for this session: Bash%(rm %*%)")
  eq({}, c:lua([[return _G.answers]]))
  c:keys("s")
  c:see("too early")
  eq({}, c:lua([[return _G.answers]]))
  vim.wait(400)
  c:keys("s")
  eq("session", c:wait([[return _G.answers[1] and _G.answers[1].scope]]))
end)

it("another key than the second one takes the first one back", {}, function(c)
  ask(c, { risk_level = "high" })
  c:keys("A")
  c:see("press A once more")
  c:keys("?")
  c:see("Why: no rule covers")
  vim.wait(400)
  c:keys("A")
  c:see("press A once more")
  eq({}, c:lua([[return _G.answers]]))
end)

it("why, risk, flags and the rule are told", {}, function(c)
  ask(c, { risk_level = "high", flags = { "outside_workspace" }, parts = { { display = "npm install express", verdict = "ask" } } })
  c:see("high risk")
  c:see("! it reaches outside the workspace")
  c:see("s and A allow: Bash%(npm install %*%)")
  c:keys("?")
  c:see("Why: no rule covers npm install express")
  c:see("ask  npm install express")
end)

it("a prompt asked anew says why, and takes the place of the first", {}, function(c)
  ask(c)
  c:keys("a")
  c:wait([[return #_G.answers == 1]])
  c:lua([[
    local s = require("drawbridge.session").current
    local p = require("drawbridge.prompt").open[1]
    s:ask("permission_request", vim.tbl_extend("force", p.params, { again = "too_early" }), function(result) table.insert(_G.answers, result) end)
  ]])
  c:see("Asked again")
  c:asked(1)
  c:keys("a")
  c:wait([[return #_G.answers == 2]])
end)

it("a withdrawn prompt vanishes with a note, and its request is answered by an error", {}, function(c)
  ask(c)
  c:lua([[
    local s = require("drawbridge.session").current
    require("drawbridge.client").listener.notification("prompt_resolved", { session_id = s.id, prompt_id = "p_1", tool_use_id = "t_1", outcome = "withdrawn", by = "claude" })
  ]])
  c:see("✗ .*  withdrawn")
  c:see("Claude has taken it back")
  eq(-32800, c:lua([[return _G.answers[1].error.code]]))
  c:keys("a")
  eq(1, c:lua([[return #_G.answers]]))
end)
