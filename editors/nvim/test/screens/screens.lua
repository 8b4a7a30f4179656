local lamp = '[lamp]\ncolor = "white"\nperiod = "10s"\nbulb = 40\n'

local keeper = [[
real
-- check --
text I will run the tests first.
bash go test ./lamp/...
ask
result ok  	lighthouse/lamp	0.012s
text They pass.
-- count --
pace 300ms
think The waves, then, one after the other.
text One comes in, and one goes out. Another comes in, and another goes out. And so on, all day long.
-- two --
text Two things at once.
parallel {
	bash go vet ./...
	result ok
	bash go test ./...
	result ok
}
text Both are fine.
-- edit --
text The period should be five seconds.
tool Edit {"file_path":"lamp.toml","old_string":"period = \"10s\"","new_string":"period = \"5s\""}
ask
text The lamp is faster now.
-- ask --
question {"questions":[{"question":"Which color should the lamp have?","header":"Color","options":[{"label":"White","description":"seen from afar"},{"label":"Red","description":"says keep away"}]},{"question":"Which rooms get one?","header":"Rooms","multiSelect":true,"options":[{"label":"Tower","description":""},{"label":"Cellar","description":"it is damp"}]}]}
text $ANSWER.Color, in $ANSWER.Rooms.
-- plan --
plan <<END
	# A fog horn

	1. Read the humidity every minute.
	2. Above 95 %, sound the horn.
END
text I begin with the sensor.
-- login --
fail 401 Invalid API key
-- agent --
text I will send a helper.
subagent Explore "Count the stairs" {
	tool Grep {"pattern":"stair","path":"tower/"}
	result tower/plan.txt: 199 stairs
}
result There are 199 stairs.
todo [x] Count the stairs; [>] Trim the wick; [ ] Polish the lens
text Counted.
delay 60s
]]

local files = { ["lamp.toml"] = lamp }

screen("streaming", { script = (keeper:gsub("goes out%. Another.-day long%.", "goes out.\nhang")) }, function(s)
  s:open()
  s:say("count")
  s:see("goes out%.")
  s:golden("streaming")
end)

screen("a prompt, and its answer", { script = keeper }, function(s)
  s:open()
  s:say("check")
  s:question("waits for you")
  s:golden("prompt")
  s:keys("=?")
  s:golden("prompt-why")
  s:keys("=a")
  s:golden("prompt-allowed")
end)

screen("two prompts", { script = keeper }, function(s)
  s:open()
  s:say("two")
  s:see("2 questions")
  vim.wait(600)
  s:golden("two-prompts")
  s:keys("=]p")
  s:keys("=]p")
  vim.wait(100)
  s:keys("=d")
  s:see("1 question:")
  s:golden("two-prompts-one-denied")
end)

screen("edit before allow", { script = keeper }, function(s)
  s:open()
  s:say("check")
  s:question("waits for you")
  s:keys("=e")
  s:see("Edit the command")
  vim.wait(400)
  s:keys("=A -short", "Escape")
  s:golden("edit-before-allow")
  s:keys("=ga")
  s:see("They pass")
end)

screen("diff", { script = keeper, files = files, open = "lamp.toml" }, function(s)
  s:see("bulb")
  s:keys("=:Drawbridge", "Enter")
  s:see("sends")
  s:say("edit")
  s:question("waits for you")
  s:golden("edit-prompt")
  s:keys("=v")
  s:see("ga accept")
  s:golden("diff")
  vim.wait(400)
  s:keys("=:%s/5s/7s/", "Enter")
  vim.wait(100)
  s:keys("=ga")
  s:see("faster now")
  s:golden("diff-accepted")
end)

screen("question", { script = keeper }, function(s)
  s:open()
  s:say("ask")
  s:question("waits for you")
  s:keys("=2")
  s:see("%(•%) Red")
  s:keys("=1")
  s:golden("question")
  s:keys("=a")
  s:see("Red, in Tower")
end)

screen("plan", { script = keeper }, function(s)
  s:open()
  s:say("plan")
  s:question("waits for you")
  s:golden("plan")
  s:keys("=o")
  s:see("ga approve")
  s:golden("plan-opened")
  vim.wait(400)
  s:keys("=ga")
  s:see("I begin with the sensor")
end)

screen("agent", { script = keeper }, function(s)
  s:open()
  s:say("agent")
  s:see("Counted")
  s:golden("agent-and-todos")
end)

screen("an error with its remedy", { script = keeper }, function(s)
  s:open()
  s:say("login")
  s:golden("error")
end)

screen("the program is missing", { env = { DRAWBRIDGE = "/nowhere/drawbridge" } }, function(s)
  s:open()
  s:golden("missing")
end)

screen(
  "the program ends in the middle of a turn",
  { script = keeper:gsub("pace 300ms", "") .. "-- kill --\ntext Working.\nhang\n" },
  function(s)
    s:open()
    s:say("kill")
    s:see("Working%.")
    s:keys("=:lua for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do vim.uv.kill(pid, 'sigkill') end", "Enter")
    s:golden("crashed")
  end
)

screen("claude is missing", { script = keeper, env = { CLAUDE_COMMAND = "/nowhere/claude" } }, function(s)
  s:open()
  s:say("hello")
  s:golden("claude-missing")
end)

-- The scripted agent keeps no transcript, as Claude does: the test writes what it would have written.
screen("a conversation is resumed after the editor was restarted", { script = keeper }, function(s)
  s:open()
  s:say("check")
  s:question("waits for you")
  s:keys("=a")
  s:see("They pass")
  s:keys("=:call writefile([luaeval('require([[drawbridge.session]]).current.info.claude_session_id')], 'id')", "Enter")
  vim.wait(300)
  local id = vim.trim(s:read(s.work .. "/id"))
  local folder = s.dir .. "/.claude/projects/" .. s.work:gsub("[^%w]", "-")
  vim.fn.mkdir(folder, "p")
  local lines, parent = {}, nil
  local function line(type, message)
    local uuid = ("00000000-0000-4000-8000-%012d"):format(#lines + 1)
    lines[#lines + 1] = vim.json.encode({
      type = type,
      uuid = uuid,
      parentUuid = parent or vim.NIL,
      sessionId = id,
      cwd = s.work,
      version = "2.1.329",
      isSidechain = false,
      timestamp = ("2026-11-21T12:00:%02d.000Z"):format(#lines),
      message = message,
    })
    parent = uuid
  end
  local function assistant(block)
    line("assistant", { id = "msg_1", type = "message", role = "assistant", model = "claude-opus-5-5", content = { block } })
  end
  line("user", { role = "user", content = "check" })
  assistant({ type = "text", text = "I will run the tests first." })
  assistant({ type = "tool_use", id = "toolu_1", name = "Bash", input = { command = "go test ./lamp/..." } })
  line(
    "user",
    { role = "user", content = { { type = "tool_result", tool_use_id = "toolu_1", content = "ok  \tlighthouse/lamp\t0.012s" } } }
  )
  assistant({ type = "text", text = "They pass." })
  s:write(folder .. "/" .. id .. ".jsonl", table.concat(lines, "\n") .. "\n")
  s:keys("=:qa!", "Enter")
  vim.wait(1000)
  s:again()
  s:keys("=:Drawbridge sessions", "Enter")
  s:see("Type number")
  s:golden("sessions")
  s:keys("=1", "Enter")
  s:see("resumed")
  s:golden("resumed")
end)
