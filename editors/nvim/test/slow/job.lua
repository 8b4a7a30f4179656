-- nvim --clean --headless -l test/slow/job.lua   a whole job by keys with the real CLI. CLAUDE names it, FAKEAPI the stand-in for the
-- Messages API, DRAWBRIDGE the program.
local here = vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(_G.arg[0])))
package.path = vim.fs.dirname(here) .. "/?.lua;" .. package.path
local child = require("child")

local address
local api = vim.fn.jobstart({ vim.env.FAKEAPI, "-until-eof" }, {
  on_stdout = function(_, lines)
    address = address or table.concat(lines):match("127%.0%.0%.1:%d+")
  end,
  on_stderr = function(_, lines)
    address = address or table.concat(lines):match("127%.0%.0%.1:%d+")
  end,
})
assert(
  vim.wait(10000, function()
    return address ~= nil
  end, 20),
  "the API did not say where it listens"
)

local function has(text, part)
  assert(text:find(part, 1, true), ("%q is not in\n%s"):format(part, text))
end

local c = child.start({
  width = 120,
  height = 44,
  env = {
    CLAUDE_COMMAND = vim.json.encode({ vim.env.CLAUDE }),
    ANTHROPIC_BASE_URL = "http://" .. address,
    ANTHROPIC_API_KEY = "sk-ant-fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1",
    DISABLE_AUTOUPDATER = "1",
    CLAUDE_CODE_MAX_RETRIES = "1",
  },
})
local steps = 0
local function step(name)
  steps = steps + 1
  io.stdout:write(("%d. %s\n"):format(steps, name))
end
io.stdout:setvbuf("line")

local ok, err = xpcall(function()
  step("an answer streams")
  c:say("tokens: 30")
  c:idle()
  has(c:chat(), "tokens: 30")

  step("a Write is looked at as a diff, changed and accepted")
  c:keys("iwrite: " .. c.work .. "/notes.txt|one two<Esc><CR>")
  c:asked(1)
  c:keys("]pv")
  c:see("ga accept")
  vim.wait(400)
  c:keys("A three<Esc>ga")
  c:idle()
  assert(c:read("notes.txt"):find("one two three", 1, true), c:read("notes.txt"))

  step("a command is edited and allowed")
  c:command("Drawbridge")
  c:keys("ibash: touch wrong<Esc><CR>")
  c:asked(1)
  c:keys("]pe")
  c:see("Edit the command")
  vim.wait(400)
  c:keys("<Esc>ccctouch right<Esc>")
  c:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { "touch right" })]])
  c:keys("ga")
  c:idle()
  assert(vim.uv.fs_stat(c.work .. "/right") and not vim.uv.fs_stat(c.work .. "/wrong"), "the edited command did not run")

  step("a command is allowed for the session, and not asked again")
  c:command("Drawbridge")
  c:keys("ibash: touch first.txt<Esc><CR>")
  c:asked(1)
  if c:lua([[return vim.list_contains(require("drawbridge.prompt").open[1].params.scopes, "session")]]) then
    c:keys("]ps")
    c:idle()
    c:command("Drawbridge")
    c:keys("ibash: touch first.txt<Esc><CR>")
    c:idle()
  else
    io.stdout:write("   this bridge offers no session: allowed once\n")
    c:keys("]pa")
    c:idle()
  end

  step("a question is answered")
  c:command("Drawbridge")
  c:keys("iask<Esc><CR>")
  c:asked(1)
  c:keys("]p1a")
  c:idle()

  step("a plan is approved")
  c:command("Drawbridge mode plan")
  c:wait([[return require("drawbridge.session").current.info.permission_mode == "plan"]])
  c:command("Drawbridge")
  c:keys("iplan<Esc><CR>")
  c:asked(1)
  c:keys("]pa")
  c:idle()

  step("a long answer is interrupted")
  c:command("Drawbridge")
  c:keys("islow: 200 100<Esc><CR>")
  c:see("working")
  vim.wait(2000)
  c:keys("<C-c>")
  c:idle()
  has(c:chat(), "── interrupted ──")

  step("the conversation is resumed")
  if c:lua([[return require("drawbridge.client").can("resume")]]) then
    local id = c:lua([[return require("drawbridge.session").current.info.claude_session_id]])
    c:command("Drawbridge resume " .. id)
    c:see("── resumed ──")
    has(c:chat(), "tokens: 30")
  else
    io.stdout:write("   this bridge keeps no conversations\n")
  end
end, debug.traceback)
if not ok then
  io.stdout:write(tostring(err), "\n", table.concat(c:screen(), "\n"), "\n")
end
c:stop()
vim.fn.jobstop(api)
os.exit(ok and 0 or 1)
