--- May a folder's own settings, hooks and servers run? Asked once per folder, and only where there are any; the answer is kept in the
--- user's state directory, never in the folder.
local prompt = require("drawbridge.prompt")

local M = {}

local function file()
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "drawbridge", "trust.json")
end

local function real(cwd)
  return vim.uv.fs_realpath(cwd) or cwd
end

---@return table<string, boolean>
local function read()
  local f = io.open(file(), "r")
  if not f then
    return {}
  end
  local ok, known = pcall(vim.json.decode, f:read("*a"))
  f:close()
  return ok and type(known) == "table" and known or {}
end

--- Whether the user trusts a folder; nil: not asked yet.
---@param cwd string
---@return boolean?
function M.known(cwd)
  local answer = read()[real(cwd)]
  if type(answer) == "boolean" then
    return answer
  end
end

---@param cwd string
---@param trusted? boolean nil forgets the answer
function M.keep(cwd, trusted)
  local known = read()
  known[real(cwd)] = trusted
  vim.fn.mkdir(vim.fs.dirname(file()), "p", "0700")
  local part = file() .. ".part"
  local f = assert(io.open(part, "w"))
  f:write(vim.json.encode(next(known) and known or vim.empty_dict()))
  f:close()
  assert(vim.uv.fs_rename(part, file()))
end

---@type drawbridge.Form
M.form = {
  title = function()
    return { { "Do you trust this folder?", "DrawbridgeWaiting" } }
  end,
  body = function(p, width)
    local rows = prompt.rows(p.params.cwd, width, "DrawbridgePrompt")
    vim.list_extend(rows, prompt.rows("It brings what would run by itself as soon as Claude starts here:", width, "DrawbridgePrompt"))
    for _, what in ipairs(p.params.off) do
      vim.list_extend(rows, prompt.rows("• " .. what, width, "DrawbridgeWarning"))
    end
    vim.list_extend(rows, prompt.rows("Without your trust it stays off, and all else works.", width, "DrawbridgeHint"))
    return rows
  end,
  keys = function()
    return { { "a", "trust it" }, { "d", "leave it off" } }
  end,
  press = {
    a = function(p)
      prompt.answer(p, { trusted = true })
    end,
    d = function(p)
      prompt.answer(p, { trusted = false })
    end,
  },
  choices = function(p)
    return {
      {
        label = "Leave it off",
        act = function()
          prompt.answer(p, { trusted = false })
        end,
      },
      {
        label = "Trust this folder",
        act = function()
          prompt.answer(p, { trusted = true })
        end,
      },
    }
  end,
}

return M
