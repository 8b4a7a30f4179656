--- Another Neovim with a terminal of its own, driven from a test: keys go in as from a keyboard, and what it shows has been drawn.
local M = {}

--- Drives the event loop until fn returns something true, for ten seconds at most. (vim.wait's own time limit does not count while fn
--- waits for an answer.)
local function poll(fn)
  local deadline = vim.uv.hrtime() + 10e9
  repeat
    if fn() then
      return true
    end
    vim.wait(25)
  until vim.uv.hrtime() > deadline
  return false
end

local root = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))))
local count = 0

---@class Child
---@field dir string its working directory; gone with it
local Child = {}
Child.__index = Child

---@param options? { script?: string, options?: table, env?: table<string, string>, files?: table<string, string>, width?: integer, height?: integer }
---@return Child
function M.start(options)
  options = options or {}
  count = count + 1
  local self = setmetatable({}, Child)
  self.dir = vim.uv.fs_realpath(vim.uv.fs_mkdtemp(vim.uv.os_tmpdir() .. "/drawbridge-XXXXXX"))
  self.work = self.dir .. "/work"
  vim.fn.mkdir(self.work)
  for name, content in pairs(options.files or {}) do
    self:write(name, content)
  end
  local env = { HOME = self.dir, TERM = "xterm-256color", NVIM_LOG_FILE = self.dir .. "/nvim.log" }
  for _, name in ipairs({ "STATE", "DATA", "CONFIG", "CACHE" }) do
    env["XDG_" .. name .. "_HOME"] = self.dir .. "/" .. name:lower()
    vim.fn.mkdir(self.dir .. "/" .. name:lower())
  end
  if options.script then
    env.SCRIPT = self.dir .. "/agent.txtar"
    self:write("../agent.txtar", options.script)
  end
  env.OPTIONS = options.options and vim.json.encode(options.options)
  env = vim.tbl_extend("force", env, options.env or {})
  local address = self.dir .. "/nvim.sock"
  self.job = vim.fn.jobstart(
    { vim.v.progpath, "--clean", "-n", "-u", root .. "/test/init.lua", "--listen", address },
    { pty = true, width = options.width or 100, height = options.height or 40, cwd = self.work, env = env }
  )
  assert(
    vim.wait(5000, function()
      local ok, channel = pcall(vim.fn.sockconnect, "pipe", address, { rpc = true })
      self.channel = ok and channel or 0
      return self.channel > 0 and self:lua("return vim.v.vim_did_enter") == 1
    end, 10),
    "the editor under test did not start"
  )
  return self
end

function Child:write(name, content)
  local f = assert(io.open(self.work .. "/" .. name, "wb"))
  f:write(content)
  f:close()
end

function Child:read(name)
  local f = assert(io.open(self.work .. "/" .. name, "rb"))
  local content = f:read("*a")
  f:close()
  return content
end

--- Runs Lua in it and returns the result. An editor that waits for a key of its own would not answer.
function Child:lua(code, ...)
  if vim.rpcrequest(self.channel, "nvim_get_mode").blocking then
    vim.wait(1500)
  end
  if vim.rpcrequest(self.channel, "nvim_get_mode").blocking then
    error("the editor under test waits at a prompt of its own", 2)
  end
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

--- Types.
function Child:keys(keys)
  vim.rpcrequest(self.channel, "nvim_input", keys)
end

function Child:command(command)
  self:lua("vim.cmd(...)", command)
end

--- Waits for a choice to be offered and takes one.
---@param question string
---@param n integer
function Child:choose(question, n)
  self:wait(("return _G.ui and _G.ui.prompt:find(%q, 1, true)"):format(question), question)
  self:lua("local ui = _G.ui _G.ui = nil ui.choose(...)", n)
end

--- Waits for a line of text to be wanted and gives it; nil gives none.
---@param question string
---@param line? string
function Child:enter(question, line)
  self:wait(("return _G.ui and _G.ui.prompt:find(%q, 1, true)"):format(question), question)
  self:lua("local ui = _G.ui _G.ui = nil ui.enter(...)", line)
end

--- Drives the event loop until code, run in the child, returns something true.
function Child:wait(code, what)
  local result
  local ok = poll(function()
    result = self:lua(code)
    return result ~= vim.NIL and result ~= false and result ~= nil
  end)
  if not ok then
    error(("never: %s\n%s"):format(what or code, table.concat(self:screen(), "\n")), 2)
  end
  return result
end

--- What the terminal shows.
---@return string[]
function Child:screen()
  return self:lua([[
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for col = 1, vim.o.columns do
        cells[col] = vim.fn.screenstring(row, col)
      end
      rows[row] = (table.concat(cells):gsub("%s+$", ""))
    end
    return rows
  ]])
end

--- Waits until the screen shows something.
---@param pattern string of Lua
function Child:see(pattern)
  local rows
  local ok = poll(function()
    rows = self:screen()
    return table.concat(rows, "\n"):find(pattern) ~= nil
  end)
  if not ok then
    error(("not seen: %s\n%s"):format(pattern, table.concat(rows, "\n")), 2)
  end
end

--- The text of the conversation.
---@return string
function Child:chat()
  return self:lua([[
    local s = require("drawbridge.session").current
    return table.concat(vim.api.nvim_buf_get_lines(s.view.text_buf, 0, -1, false), "\n")
  ]])
end

--- Opens the conversation and sends a message by keys.
function Child:say(message)
  self:command("Drawbridge")
  self:keys("i" .. message .. "<Esc><CR>")
end

--- Waits for n open prompts that take keys.
function Child:asked(n)
  self:wait(
    ([[
    local open, settled = require("drawbridge.prompt").open, 0
    for _, p in ipairs(open) do settled = settled + (p.settled and 1 or 0) end
    return #open == %d and settled == %d
  ]]):format(n, n),
    n .. " questions"
  )
end

--- Waits until the turn is over.
function Child:idle()
  self:wait(
    [[
    local s = require("drawbridge.session").current
    return s.status.state == "idle" and #s.sent == 0 and #require("drawbridge.prompt").open == 0 and s.said == true
      and not s.frame.scheduled
  ]],
    "the end of the turn"
  )
end

function Child:stop()
  pcall(vim.rpcnotify, self.channel, "nvim_command", "qa!")
  vim.fn.jobwait({ self.job }, 3000)
  vim.fn.jobstop(self.job)
  vim.fn.delete(self.dir, "rf")
end

return M
