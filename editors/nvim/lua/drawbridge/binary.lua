--- Where the bridge is.
local M = {}

--- The version of this plugin. It speaks protocol 1.x; a bridge older than `oldest` lacks what it needs.
M.plugin_version = "0.1.0"
M.oldest = "0.1.0"

local windows = vim.fn.has("win32") == 1
local program = windows and "drawbridge.exe" or "drawbridge"

--- The folder of the plugin.
---@return string
function M.root()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.normalize(vim.fn.fnamemodify(here, ":p:h:h:h"))
end

---@class drawbridge.Found
---@field command? string[] how the bridge is started; nil if it was not found
---@field looked string[] where it was looked for, in the words of a sentence

--- Looks for the bridge: the option `command`, $PATH, the plugin's bin/, the bin/ of the checkout the plugin is part of.
---@return drawbridge.Found
function M.find()
  local command = require("drawbridge.config").get().command
  if command then
    if vim.fn.executable(command[1]) == 1 then
      return { command = command, looked = {} }
    end
    return { looked = { ("the option command, %s"):format(command[1]) } }
  end
  local looked = { "$PATH" }
  if vim.fn.executable("drawbridge") == 1 then
    return { command = { vim.fn.exepath("drawbridge") }, looked = looked }
  end
  local root = M.root()
  local folders = { root .. "/bin", vim.fs.dirname(vim.fs.dirname(root)) .. "/bin" }
  for _, folder in ipairs(folders) do
    local path = folder .. "/" .. program
    if vim.fn.executable(path) == 1 then
      return { command = { path }, looked = looked }
    end
    looked[#looked + 1] = folder
  end
  return { looked = looked }
end

--- What to tell a user whose bridge was not found.
---@param found drawbridge.Found
---@return string message
---@return string remedy
function M.missing(found)
  local message = "The program drawbridge was not found. Looked in: " .. table.concat(found.looked, "; ") .. "."
  local remedy = "Put it on $PATH or into the plugin's bin/ folder, run `make build` in the checkout,"
    .. " or name it: require('drawbridge').setup({ command = { '/path/to/drawbridge' } })."
  return message, remedy
end

--- Whether version a is older than version b; what is behind a dash does not count.
---@param a string
---@param b string
function M.older(a, b)
  local function parse(v)
    return vim.version.parse((v:gsub("%-.*$", "")))
  end
  local ok, result = pcall(function()
    return vim.version.lt(parse(a), parse(b))
  end)
  return ok and result
end

return M
