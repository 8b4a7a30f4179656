--- The edit Claude proposes, beside the file as it is: two windows in a tab page of their own. The right one may be changed before it is
--- accepted.
local config = require("drawbridge.config")
local permission = require("drawbridge.prompt.permission")
local prompt = require("drawbridge.prompt")
local proposal = require("drawbridge.proposal")
local text = require("drawbridge.text")

local M = {}

local function read(path)
  local f = io.open(path, "rb")
  if not f then
    return
  end
  local content = f:read("*a")
  f:close()
  return content
end

--- Replaces the first occurrence of old, or all of them.
local function replace(content, old, new, all)
  local out, from = {}, 1
  repeat
    local first, last = content:find(old, from, true)
    if not first then
      break
    end
    out[#out + 1] = content:sub(from, first - 1)
    out[#out + 1] = new
    from = last + 1
  until not all
  if from == 1 then
    return
  end
  out[#out + 1] = content:sub(from)
  return table.concat(out)
end

--- The diff of a request that brings none: made from the tool's input and the file as it is on disk.
---@return drawbridge.Diff?
local function guess(q)
  local input = q.input or {}
  local path = input.file_path
  if type(path) ~= "string" then
    return
  end
  if path:sub(1, 1) ~= "/" and not path:match("^%a:[/\\]") then
    path = vim.fs.joinpath(vim.fn.getcwd(), path)
  end
  local stat = vim.uv.fs_stat(path)
  if stat and (stat.type ~= "file" or stat.size > 1024 * 1024) then
    return
  end
  local old = stat and read(path)
  if q.tool == "Write" and type(input.content) == "string" then
    return { path = path, old_text = old, new_text = input.content, exists = old ~= nil, guessed = true }
  elseif q.tool == "Edit" and type(input.old_string) == "string" and type(input.new_string) == "string" then
    if input.old_string == "" then
      return { path = path, old_text = old, new_text = input.new_string, exists = old ~= nil, guessed = true }
    end
    local new = old and replace(old, input.old_string, input.new_string, input.replace_all == true)
    if new then
      return { path = path, old_text = old, new_text = new, exists = true, guessed = true }
    end
    -- The file is not to be seen from here: what is replaced by what can still be shown.
    return { path = path, old_text = input.old_string, new_text = input.new_string, exists = true, guessed = true, partial = true }
  end
end

--- The diff of a prompt, if it is about a file.
---@param p drawbridge.Prompt
---@return drawbridge.Diff?
function M.of(p)
  if p.diff == nil then
    p.diff = p.params.diff or guess(p.params) or false
  end
  return p.diff or nil
end

---@param p drawbridge.Prompt
function M.possible(p)
  local diff = M.of(p)
  return diff ~= nil and diff.new_text ~= nil and not diff.omitted_bytes
end

---@class drawbridge.Shape how a text stands in a buffer
---@field crlf boolean
---@field newline boolean whether the last line ends with a line break

---@param s string
---@return string[] lines
---@return drawbridge.Shape
local function to_lines(s)
  local _, breaks = s:gsub("\n", "")
  local _, crlf = s:gsub("\r\n", "")
  local shape = { crlf = breaks > 0 and breaks == crlf, newline = s == "" or s:sub(-1) == "\n" }
  if shape.crlf then
    s = s:gsub("\r\n", "\n")
  end
  if s:sub(-1) == "\n" then
    s = s:sub(1, -2)
  end
  return vim.split(s, "\n", { plain = true }), shape
end

---@param lines string[]
---@param shape drawbridge.Shape
local function to_text(lines, shape)
  if #lines == 1 and lines[1] == "" then
    return ""
  end
  local line_break = shape.crlf and "\r\n" or "\n"
  return table.concat(lines, line_break) .. (shape.newline and line_break or "")
end

--- What to answer when the user has made new text of it.
---@param p drawbridge.Prompt
---@param diff drawbridge.Diff
---@param edited string
---@return table? answer
local function edited_answer(p, diff, edited)
  if not diff.guessed then
    return { updated_text = edited }
  end
  local input = vim.deepcopy(p.params.input)
  if p.params.tool == "Write" or input.old_string == "" then
    input[p.params.tool == "Write" and "content" or "new_string"] = edited
    return { updated_input = input }
  end
  if diff.partial then
    input.new_string = edited
    return { updated_input = input }
  end
  -- Of an Edit only the replacement may be exchanged: what stands around it must be as it was.
  local first, last = diff.old_text:find(input.old_string, 1, true)
  local before, after = diff.old_text:sub(1, first - 1), diff.old_text:sub(last + 1)
  if
    input.replace_all == true
    or #edited < #before + #after
    or edited:sub(1, #before) ~= before
    or (after ~= "" and edited:sub(-#after) ~= after)
  then
    return
  end
  input.new_string = edited:sub(#before + 1, #edited - #after)
  return { updated_input = input }
end

---@param p drawbridge.Prompt
function M.open(p)
  if p.proposal and not p.proposal.done then
    return vim.api.nvim_set_current_tabpage(p.proposal.tab)
  end
  local diff = assert(M.of(p))
  local name = vim.fn.fnamemodify(diff.path, ":.")
  local filetype = vim.filetype.match({ filename = diff.path })
  local old_lines = to_lines(diff.old_text or "")
  local new_lines, shape = to_lines(diff.new_text)
  local before = proposal.buffer(("drawbridge://%s/before/%s"):format(p.id, name), old_lines, false)
  local after = proposal.buffer(("drawbridge://%s/after/%s"):format(p.id, name), new_lines, true)
  for _, buf in ipairs({ before, after }) do
    -- Highlighting only: the filetype itself would start language servers on a text that is no file.
    local lang = filetype and vim.treesitter.language.get_lang(filetype)
    if not (lang and pcall(vim.treesitter.start, buf, lang)) then
      vim.bo[buf].syntax = filetype or ""
    end
  end
  local shown = to_text(vim.api.nvim_buf_get_lines(after, 0, -1, false), shape)
  local keys = config.get().keys

  local function accept()
    local edited = to_text(vim.api.nvim_buf_get_lines(after, 0, -1, false), shape)
    local answer = {}
    if edited ~= shown then
      answer = edited_answer(p, diff, edited)
      if not answer then
        return prompt.say("only the replaced lines can be changed: undo the rest")
      end
    end
    require("drawbridge.unsaved").before_edit(p, function()
      permission.allow(p, answer)
    end)
  end

  local title = (diff.exists == false and "new file " or "") .. text.visible(name)
  if diff.symlink_target then
    title = title .. " → " .. text.visible(diff.symlink_target)
  end
  p.proposal = proposal.open(p, { before, after }, {
    title = title,
    left = diff.exists == false and "no file yet" or "as it is",
    accept = accept,
    reject = function()
      permission.deny(p)
    end,
    reject_reason = function()
      permission.deny_with_reason(p)
    end,
    closed = function()
      if not p.answered and not p.over then
        permission.deny(p)
        prompt.say("closed without accepting: the edit is rejected")
      end
    end,
    keys = { { keys.accept or "", "accept" }, { keys.reject or "", "reject" }, { keys.reject_reason or "", "say why" }, { ":q", "reject" } },
  })
  for _, win in ipairs(p.proposal.wins) do
    vim.api.nvim_win_call(win, function()
      vim.cmd.diffthis()
      vim.wo.foldlevel = 0
    end)
  end
  vim.cmd("silent! normal! gg]c")
end

return M
