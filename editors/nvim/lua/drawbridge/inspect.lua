--- Looking behind the scenes: the log, a record of both sides, what the program finds about this machine.
local binary = require("drawbridge.binary")
local client = require("drawbridge.client")

local M = {}

local function say(message, level)
  vim.notify("drawbridge: " .. message, level or vim.log.levels.INFO)
end

--- Shows lines in a buffer of their own.
local function show(name, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.cmd("botright sbuffer " .. buf)
  pcall(vim.api.nvim_buf_set_name, buf, name)
end

--- Runs a subcommand of the bridge's program and shows what it prints.
local function program(arguments, name)
  local found = binary.find()
  if not found.command then
    local message, remedy = binary.missing(found)
    return say(message .. " " .. remedy, vim.log.levels.ERROR)
  end
  local command = { found.command[1] }
  vim.list_extend(command, arguments)
  local ok, err = pcall(vim.system, command, { text = true, timeout = 30000 }, function(result)
    vim.schedule(function()
      local output = vim.trim((result.stdout or "") .. "\n" .. (result.stderr or ""))
      show(name, vim.split(output, "\n", { plain = true }))
    end)
  end)
  if not ok then
    say(tostring(err), vim.log.levels.ERROR)
  end
end

--- Where the bridge keeps its log.
---@return string
local function log_file()
  if vim.fn.has("win32") == 1 then
    return vim.fs.joinpath(vim.env.LOCALAPPDATA or "", "drawbridge", "drawbridge.log")
  end
  local state = vim.env.XDG_STATE_HOME
  if not state or state == "" then
    state = vim.fs.joinpath(vim.uv.os_homedir() or "", ".local", "state")
  end
  return vim.fs.joinpath(state, "drawbridge", "drawbridge.log")
end

---@param which string "lsp": what the bridge wrote to stderr, which vim.lsp.rpc keeps in its own log
function M.log(which)
  local path = which == "lsp" and require("vim.lsp.log").get_filename() or log_file()
  if not vim.uv.fs_stat(path) then
    return say("there is no log yet: " .. path)
  end
  vim.cmd("botright split " .. vim.fn.fnameescape(path))
  vim.bo.readonly = true
  vim.cmd("normal! G")
end

--- From its next start on the bridge writes what both sides say to a file.
---@param file string "off" ends it; "": a file in the editor's log folder
function M.trace(file)
  if file == "off" then
    client.trace_file = nil
    return say("both sides are no longer recorded")
  end
  client.trace_file = file ~= "" and vim.fn.fnamemodify(file, ":p")
    or vim.fs.joinpath(vim.fn.stdpath("log") --[[@as string]], "drawbridge-trace.jsonl")
  say("recording to " .. client.trace_file)
end

function M.doctor()
  program({ "doctor" }, "drawbridge://doctor")
end

return M
