-- nvim --clean --headless -l test/screens/run.lua [PATTERN]   drives Neovim in a terminal (tmux) by keys and compares what it shows with
-- test/screens/golden. UPDATE=1 writes them. NVIM names the editor, DRAWBRIDGE the program.
local here = vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(_G.arg[0])))
local root = vim.fs.dirname(vim.fs.dirname(here))
local wanted, update = _G.arg[1], vim.env.UPDATE == "1"
local nvim = vim.env.NVIM or vim.v.progpath
local passed, failed, count = 0, 0, 0

---@class Screen
local Screen = {}
Screen.__index = Screen

---@param options { script?: string, files?: table<string, string>, env?: table<string, string>, open?: string, width?: integer, height?: integer }
local function start(options)
  count = count + 1
  local self = setmetatable({}, Screen)
  self.dir = vim.uv.fs_realpath(vim.uv.fs_mkdtemp(vim.uv.os_tmpdir() .. "/drawbridge-XXXXXX"))
  self.socket = ("drawbridge-%d-%d"):format(vim.uv.os_getpid(), count)
  self.work = self.dir .. "/lighthouse"
  vim.fn.mkdir(self.work)
  for name, content in pairs(options.files or {}) do
    self:write(self.work .. "/" .. name, content)
  end
  local env = { HOME = self.dir, LC_ALL = "C.UTF-8", UI = "real", DRAWBRIDGE = vim.env.DRAWBRIDGE }
  for _, name in ipairs({ "STATE", "DATA", "CONFIG", "CACHE" }) do
    env["XDG_" .. name .. "_HOME"] = self.dir .. "/" .. name:lower()
    vim.fn.mkdir(self.dir .. "/" .. name:lower())
  end
  if options.script then
    env.SCRIPT = self.dir .. "/agent.txtar"
    self:write(env.SCRIPT, options.script)
  end
  env = vim.tbl_extend("force", env, options.env or {})
  local command = { "tmux", "-L", self.socket, "-f", "/dev/null", "-u", "new-session", "-d" }
  vim.list_extend(command, { "-x", tostring(options.width or 110), "-y", tostring(options.height or 32) })
  for name, value in pairs(env) do
    vim.list_extend(command, { "-e", name .. "=" .. value })
  end
  local edit = ("%s --clean -n -u %s/test/init.lua %s"):format(nvim, root, options.open or "")
  command[#command + 1] = ("cd %s && %s; read again; exec %s"):format(self.work, edit, edit)
  assert(vim.system(command):wait().code == 0, "tmux did not start")
  self:see("%s")
  return self
end

function Screen.write(_, path, content)
  local f = assert(io.open(path, "wb"))
  f:write(content)
  f:close()
end

function Screen.read(_, path)
  local f = assert(io.open(path, "rb"))
  local content = f:read("*a")
  f:close()
  return content
end

--- Starts the editor a second time.
function Screen:again()
  self:keys("Enter")
  self:see("%[No Name%]")
end

function Screen:tmux(...)
  return vim.system({ "tmux", "-L", self.socket, ... }, { text = true }):wait()
end

--- Types: names of keys as tmux knows them, or text after "=".
function Screen:keys(...)
  for _, key in ipairs({ ... }) do
    if key:sub(1, 1) == "=" then
      self:tmux("send-keys", "-t", "0", "-l", key:sub(2))
    else
      self:tmux("send-keys", "-t", "0", key)
    end
  end
end

--- What the terminal shows, without what differs from run to run.
function Screen:capture()
  local text = self:tmux("capture-pane", "-p", "-t", "0").stdout or ""
  text = text
    :gsub("%d+%.%d s", "N s")
    :gsub("%d+ s ", "N s ")
    :gsub("p_%x+", "p_ID")
    :gsub("%d+%-%d+%-%d+ %d+:%d+", "2026-11-21 12:00")
    :gsub(vim.pesc(self.dir), "~")
  return (text:gsub("[ \t]+\n", "\n"))
end

function Screen:see(pattern)
  local shown
  local ok = vim.wait(15000, function()
    shown = self:capture()
    return shown:find(pattern) ~= nil
  end, 50)
  if not ok then
    error(("not seen: %s\n%s"):format(pattern, shown), 2)
  end
end

--- The screen is, or becomes, as the golden one.
function Screen:golden(name)
  local path = here .. "/golden/" .. name .. ".txt"
  if update then
    vim.wait(700)
    self:write(path, self:capture())
    return
  end
  local f = assert(io.open(path), "there is no golden screen " .. name)
  local want = f:read("*a")
  f:close()
  local shown
  local ok = vim.wait(15000, function()
    shown = self:capture()
    return shown == want
  end, 50)
  if not ok then
    local compare = vim.text and vim.text.diff or vim.diff
    error(("the screen is not %s:\n%s"):format(name, compare(want, shown, { ctxlen = 50 })), 2)
  end
end

function Screen:stop()
  self:tmux("kill-server")
  vim.wait(100)
  vim.fn.delete(self.dir, "rf")
end

--- A message, by keys, from the prompt area.
function Screen:say(message)
  self:keys("=i" .. message, "Escape")
  vim.wait(50) -- or the terminal takes Escape and the next key for Alt
  self:keys("Enter")
end

function Screen:open()
  self:see("%[No Name%]")
  self:keys("=:Drawbridge", "Enter")
  self:see("sends")
end

--- To the next question, after it was looked at.
function Screen:question(pattern)
  self:see(pattern)
  vim.wait(600)
  self:keys("=]p")
  vim.wait(100)
end

function _G.screen(name, options, fn)
  if wanted and not name:find(wanted) then
    return
  end
  local s
  local ok, err = xpcall(function()
    s = start(options)
    fn(s)
  end, function(e)
    return tostring(e)
  end)
  if s then
    s:stop()
  end
  if ok then
    passed = passed + 1
    io.stdout:write(("ok screen %s\n"):format(name))
  else
    failed = failed + 1
    io.stdout:write(("NOT OK screen %s\n  %s\n"):format(name, (err:gsub("\n", "\n  "))))
  end
end

io.stdout:setvbuf("line")
dofile(here .. "/screens.lua")
io.stdout:write(("%d passed, %d failed\n"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
