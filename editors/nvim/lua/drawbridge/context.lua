--- What goes with a message. Nothing does unless the user has added it.
local unsaved = require("drawbridge.unsaved")

local M = {}

---@class drawbridge.Attachment
---@field kind "file"|"selection"|"diagnostics"
---@field path string
---@field first? integer
---@field last? integer
---@field text? string
---@field label? string

---@param path string
local function short(path)
  return vim.fn.fnamemodify(path, ":~:.")
end

--- How an attachment is named above the prompt area, and below the message it went with.
---@param item drawbridge.Attachment|drawbridge.ContextItem
---@return string
function M.label(item)
  local path = item.path or item.uri
  local first = item.first or (item.range and item.range.start.line + 1)
  local last = item.last or (item.range and item.range["end"].line + 1)
  local name = item.label or short(path)
  if item.kind == "diagnostics" then
    return "diagnostics of " .. name
  elseif first then
    return ("%s:%d-%d"):format(name, first, last)
  end
  return name
end

---@param line string
local function utf16_length(line)
  if vim.fn.has("nvim-0.11") == 1 then
    return vim.str_utfindex(line, "utf-16")
  end
  return select(2, vim.str_utfindex(line))
end

---@param item drawbridge.Attachment
---@return drawbridge.ContextItem
local function to_wire(item)
  local out = { uri = item.path, kind = item.kind, text = item.text }
  if item.first then
    local last_line = item.text and item.text:match("[^\n]*$") or ""
    out.range = {
      start = { line = item.first - 1, character = 0 },
      -- Positions are in UTF-16 units.
      ["end"] = { line = item.last - 1, character = utf16_length(last_line) },
    }
  end
  return out
end

local severity = { "error", "warning", "info", "hint" }

---@param buf integer
---@return drawbridge.Attachment?
local function diagnostics(buf)
  local found = vim.diagnostic.get(buf)
  if #found == 0 then
    return
  end
  local lines = {}
  for _, d in ipairs(found) do
    lines[#lines + 1] = ("%d:%d: %s: %s"):format(d.lnum + 1, d.col + 1, severity[d.severity] or "?", d.message)
  end
  return { kind = "diagnostics", path = vim.api.nvim_buf_get_name(buf), text = table.concat(lines, "\n") }
end

---@return drawbridge.Attachment?
local function quickfix()
  local lines = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    local name = item.bufnr > 0 and short(vim.api.nvim_buf_get_name(item.bufnr)) or ""
    lines[#lines + 1] = ("%s:%d:%d: %s"):format(name, item.lnum, item.col, item.text)
  end
  if #lines == 0 then
    return
  end
  return { kind = "diagnostics", path = vim.fn.getcwd(), label = "the quickfix list", text = table.concat(lines, "\n") }
end

--- Adds to what goes with the next message.
---@param session drawbridge.Session
---@param what "file"|"selection"|"diagnostics"|"quickfix"|string a path
---@param range? { first: integer, last: integer }
---@return string? problem
function M.add(session, what, range)
  local buf = vim.api.nvim_get_current_buf()
  local path = vim.api.nvim_buf_get_name(buf)
  local item
  if what == "diagnostics" then
    item = diagnostics(buf)
    if not item then
      return "this buffer has no diagnostics"
    end
  elseif what == "quickfix" then
    item = quickfix()
    if not item then
      return "the quickfix list is empty"
    end
  elseif what == "selection" or (what == "file" and range) then
    if not range then
      return "nothing is selected"
    end
    local lines = vim.api.nvim_buf_get_lines(buf, range.first - 1, range.last, false)
    item = { kind = "selection", path = path, first = range.first, last = range.last, text = table.concat(lines, "\n") }
    if path == "" then
      item.label = "a buffer without a name"
    end
  elseif what == "file" then
    if path == "" or vim.bo[buf].buftype ~= "" then
      return "this buffer is no file"
    end
    item = { kind = "file", path = path }
  else
    path = vim.fn.fnamemodify(what, ":p")
    if not vim.uv.fs_stat(path) then
      return "there is no file " .. what
    end
    item = { kind = "file", path = path }
  end
  for _, other in ipairs(session.attached) do
    if M.label(other) == M.label(item) then
      return
    end
  end
  session.attached[#session.attached + 1] = item
  vim.cmd.redrawstatus({ bang = true })
end

--- Takes one away again.
---@param session drawbridge.Session
function M.drop(session)
  vim.ui.select(session.attached, {
    prompt = "Do not send",
    format_item = M.label,
  }, function(_, i)
    if i then
      table.remove(session.attached, i)
      vim.cmd.redrawstatus({ bang = true })
    end
  end)
end

--- The files a message names with @.
---@param message string
---@param cwd string
---@return drawbridge.Attachment[]
function M.mentioned(message, cwd)
  local found = {}
  for name in (" " .. message):gmatch("%s@([^%s]+)") do
    name = name:gsub("[,;:.!?)]+$", "")
    local path = name:sub(1, 1) == "/" and name or vim.fs.joinpath(cwd, name)
    local stat = vim.uv.fs_stat(path)
    if stat and stat.type == "file" then
      found[#found + 1] = { kind = "file", path = path }
    end
  end
  return found
end

---@param buf integer
local function whole_text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. (vim.bo[buf].endofline and "\n" or "")
end

local asked = {} ---@type table<integer, integer> buffer → its changedtick when the user last said what to do

--- Collects what goes with a message, and asks about what is not saved: once for every state of a buffer.
---@param session drawbridge.Session
---@param message string
---@param go fun(context: drawbridge.ContextItem[]) not called if the user decides not to send
function M.gather(session, message, go)
  local items = vim.deepcopy(session.attached)
  vim.list_extend(items, M.mentioned(message, session.cwd))
  if require("drawbridge.config").get().auto_context then
    local win = session.view:other_window()
    local buf = win and vim.api.nvim_win_get_buf(win)
    if buf and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= "" then
      items[#items + 1] = { kind = "file", path = vim.api.nvim_buf_get_name(buf) }
    end
  end
  local dirty = vim.tbl_filter(function(buf)
    return asked[buf] ~= vim.api.nvim_buf_get_changedtick(buf)
  end, unsaved.below(session.cwd))
  for _, item in ipairs(items) do
    local buf = item.kind == "file" and unsaved.dirty(item.path)
    if buf and not vim.list_contains(dirty, buf) and asked[buf] ~= vim.api.nvim_buf_get_changedtick(buf) then
      dirty[#dirty + 1] = buf
    end
  end
  local function finish()
    go(vim.tbl_map(to_wire, items))
  end
  if #dirty == 0 then
    return finish()
  end
  local names = vim.tbl_map(function(buf)
    return short(vim.api.nvim_buf_get_name(buf))
  end, dirty)
  vim.ui.select({ "Save, then send", "Send with the unsaved text", "Send as it is: Claude sees the files on disk", "Do not send" }, {
    prompt = "Not saved: " .. table.concat(names, ", "),
    kind = "drawbridge_unsaved",
  }, function(_, choice)
    if not choice or choice == 4 then
      return
    end
    for _, buf in ipairs(dirty) do
      if choice == 1 and not unsaved.save(buf) then
        return
      elseif choice == 2 then
        local path = vim.api.nvim_buf_get_name(buf)
        items = vim.tbl_filter(function(item)
          return not (item.kind == "file" and item.path == path)
        end, items)
        items[#items + 1] = { kind = "file", path = path, text = whole_text(buf) }
      end
      asked[buf] = vim.api.nvim_buf_get_changedtick(buf)
    end
    finish()
  end)
end

return M
