--- What Claude asks. A prompt is drawn below its card; an answer is a key pressed with the cursor on the card.
---
--- A key that was meant for something else must not answer. So a key counts only if
---   the cursor is on that prompt: nothing ever moves it there but the user;
---   all of the prompt, its last line included, has been on the screen for a while: see settle.lua;
---   no key came too early meanwhile: each one starts the wait again, and so does the return of the focus to the editor.
local config = require("drawbridge.config")
local protocol = require("drawbridge.protocol")
local settle = require("drawbridge.prompt.settle")
local text = require("drawbridge.text")
local transcript = require("drawbridge.chat.transcript")

local M = {}

---@class drawbridge.Prompt
---@field id string
---@field form drawbridge.Form
---@field params table
---@field session drawbridge.Session
---@field card drawbridge.Card
---@field respond fun(result?: table, err?: table)
---@field answered boolean an answer is on its way
---@field settled boolean keys count
---@field explained boolean whether the user has asked why
---@field confirm? { key: string, scope: string } waits for a second key
---@field closed? fun() set by a view that shows it: called when the prompt is gone
---@field inlay? drawbridge.Inlay
---@field private ticks integer
---@field private drawn integer
---@field private mark integer
---@field state table of the form

--- A kind of prompt: what it looks like and what its keys do.
---@class drawbridge.Form
---@field title fun(p: drawbridge.Prompt): [string, string][]
---@field body fun(p: drawbridge.Prompt, width: integer): [string, string][][]
---@field keys fun(p: drawbridge.Prompt): [string, string][] key and what it does, as shown
---@field press table<string, fun(p: drawbridge.Prompt, key: string)>
---@field choices fun(p: drawbridge.Prompt): { label: string, act: fun() }[] for vim.ui.select; the first one changes nothing

---@type drawbridge.Prompt[] open prompts of all conversations, in the order they were asked
M.open = {}

---@param virt_lines [string, string][][]
local function framed(virt_lines, indent)
  for i, line in ipairs(virt_lines) do
    table.insert(line, 1, { indent .. (i == #virt_lines and "  └ " or "  │ "), "DrawbridgePromptBorder" })
  end
  return virt_lines
end

--- The keys of a form in rows no wider than width.
---@param p drawbridge.Prompt
---@param width integer
local function key_rows(p, width)
  local rows, row, used = {}, {}, 0
  for _, pair in ipairs(p.form.keys(p)) do
    local key, does = pair[1], pair[2]
    local cells = vim.fn.strdisplaywidth(key .. " " .. does) + 3
    if used + cells > width and used > 0 then
      rows[#rows + 1], row, used = row, {}, 0
    end
    row[#row + 1] = { key, p.settled and "DrawbridgePromptKey" or "DrawbridgeHint" }
    row[#row + 1] = { " " .. does .. "   ", "DrawbridgePrompt" }
    used = used + cells
  end
  rows[#rows + 1] = row
  return rows
end

---@param p drawbridge.Prompt
function M.draw(p)
  if p.over or not vim.api.nvim_buf_is_valid(p.card.t.buf) then
    return
  end
  local indent = p.card.indent
  local width = p.session.view:width() - 5 - #indent
  local lines = { p.form.title(p) }
  vim.list_extend(lines, p.form.body(p, width))
  if p.answered then
    lines[#lines + 1] = { { "answered …", "DrawbridgeHint" } }
  else
    vim.list_extend(lines, key_rows(p, width))
  end
  local _, last = p.card:rows()
  p.mark = p.card.t:mark(last, { id = p.mark, virt_lines = framed(lines, indent) })
end

--- Draws text of others as rows that are not cut off at the edge of the window.
---@param s string
---@param width integer
---@param group string
---@return [string, string][][]
function M.rows(s, width, group)
  local rows = {}
  for _, row in ipairs(text.wrap(text.visible(s), width)) do
    rows[#rows + 1] = { { row, group } }
  end
  return rows
end

--- Tells the user that Claude waits, in the ways that do not disturb.
---@param p drawbridge.Prompt
local function announce(p)
  local shown = text.visible(p.params.title or (p.params.questions and p.params.questions[1].question) or "Claude asks")
  vim.api.nvim_exec_autocmds("User", {
    pattern = "DrawbridgePrompt",
    modeline = false,
    data = { prompt_id = p.id, session_id = p.session.id, tool = p.params.tool, title = shown },
  })
  require("drawbridge.attention").wanted("Claude asks: " .. shown)
end

--- Shows a prompt. The caller has made the card.
---@param p drawbridge.Prompt
function M.add(p)
  p.answered, p.state = false, p.state or {}
  M.open[#M.open + 1] = p
  p.card:set("waiting")
  p.card.t:write(function()
    M.draw(p)
  end)
  settle.begin(p)
  announce(p)
  if config.get().prompt_style == "select" then
    M.select(p)
  end
  vim.cmd.redrawstatus()
end

---@param id string
---@return drawbridge.Prompt?
function M.find(id)
  for _, p in ipairs(M.open) do
    if p.id == id then
      return p
    end
  end
end

--- Takes a prompt away.
---@param p drawbridge.Prompt
---@param state string what its card says then
---@param note? string
function M.remove(p, state, note)
  p.over = true
  for i, other in ipairs(M.open) do
    if other == p then
      table.remove(M.open, i)
      break
    end
  end
  if vim.api.nvim_buf_is_valid(p.card.t.buf) then
    vim.api.nvim_buf_del_extmark(p.card.t.buf, transcript.ns, p.mark)
    p.card:set(state)
    if note then
      p.card.t:write(function()
        p.card:add({ "  │ " .. note }, "DrawbridgeHint")
      end)
    end
  end
  if p.inlay then
    p.inlay:remove()
  end
  if p.closed then
    p.closed()
  end
  vim.cmd.redrawstatus()
end

--- Sends the answer. Only the first one counts.
---@param p drawbridge.Prompt
---@param result table
function M.answer(p, result)
  if p.answered or p.over then
    return
  end
  p.answered, p.confirm = true, nil
  M.draw(p)
  p.respond(result, nil)
end

--- The bridge has taken its question back, or nobody can answer it any more.
---@param p drawbridge.Prompt
function M.take_back(p)
  if not p.answered then
    p.answered = true
    p.respond(nil, { code = protocol.code.request_cancelled, message = "withdrawn" })
  end
end

--- The prompt the cursor is on.
---@return drawbridge.Prompt?
function M.at_cursor()
  local buf = vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, p in ipairs(M.open) do
    if p.card.t.buf == buf then
      local first, last = p.card:rows()
      if first <= row and row <= last then
        return p
      end
    end
  end
end

--- A word to the user, which must not make the editor wait for <Enter>: that would swallow the next key.
---@param message string
local function say(message)
  if vim.fn.strdisplaywidth(message) > vim.v.echospace then
    message = vim.fn.strcharpart(message, 0, math.max(vim.v.echospace - 1, 1)) .. "…"
  end
  vim.api.nvim_echo({ { message, "WarningMsg" } }, false, {})
end
M.say = say

--- Does what a key means on a prompt.
---@param p drawbridge.Prompt
---@param key string
local function press(p, key)
  if p.over or p.answered then
    return say("that question is closed")
  end
  if not p.settled then
    local seen = settle.on_screen(p)
    settle.again(p)
    if not seen then
      return say("not all of the question was on the screen yet: scroll to its keys")
    end
    return say("too early: the question has only just appeared")
  end
  if p.confirm and p.confirm.key ~= key then
    p.confirm = nil
    M.draw(p)
  end
  p.form.press[key](p, key)
end

--- The keys that may answer a prompt. None of them moves the cursor.
M.keys = { "a", "A", "s", "d", "D", "e", "?", "v", "m", "o", "c", "1", "2", "3", "4", "5", "6", "7", "8", "9" }

--- Maps the keys in a buffer. Away from a prompt, and on one that has no use for it, a key does what it always does.
---@param buf integer
function M.map(buf)
  for _, key in ipairs(M.keys) do
    vim.keymap.set("n", key, function()
      local p = M.at_cursor()
      if not p or not p.form.press[key] then
        return key
      end
      vim.schedule(function()
        press(p, key)
      end)
      return ""
    end, { buffer = buf, expr = true, desc = "Answer the question under the cursor" })
  end
end

--- Puts the cursor on the next open prompt of a conversation, from wherever the user is: the one thing that moves it there.
---@param session drawbridge.Session
---@param backward? boolean
function M.go(session, backward)
  local here, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local list = vim.tbl_filter(function(p)
    return p.session == session
  end, M.open)
  if #list == 0 then
    return say("Claude asks nothing")
  end
  table.sort(list, function(a, b)
    return (a.card:rows()) < (b.card:rows())
  end)
  session.view:open(false)
  local target
  if here ~= session.view.text_buf then
    target = backward and list[#list] or list[1]
  elseif backward then
    for _, p in ipairs(list) do
      local _, last = p.card:rows()
      if last < row then
        target = p
      end
    end
    target = target or list[#list]
  else
    for i = #list, 1, -1 do
      if (list[i].card:rows()) > row then
        target = list[i]
      end
    end
    target = target or list[1]
  end
  vim.api.nvim_set_current_win(session.view.text_win)
  local first, last = target.card:rows()
  -- All of it on the screen if there is room: what stands below it first, then its head.
  vim.api.nvim_win_set_cursor(0, { math.min(last + 2, vim.api.nvim_buf_line_count(0)), 0 })
  vim.cmd.redraw()
  vim.api.nvim_win_set_cursor(0, { first + 1, 0 })
  vim.cmd("normal! zv")
end

--- Asks through vim.ui.select. The first choice answers nothing, and a choice made at once is not taken.
---@param p drawbridge.Prompt
function M.select(p)
  local choices = p.form.choices(p)
  table.insert(choices, 1, { label = "Decide later", act = function() end })
  local asked = vim.uv.hrtime()
  local question = "Claude asks: " .. text.visible(p.params.display or p.params.title or "")
  vim.ui.select(choices, {
    prompt = question,
    kind = "drawbridge_prompt",
    format_item = function(choice)
      return choice.label
    end,
  }, function(choice)
    if not choice or p.over or p.answered then
      return
    end
    if (vim.uv.hrtime() - asked) / 1e6 < config.get().settle_ms then
      say("too early: the question has only just appeared")
      return vim.schedule(function()
        M.select(p)
      end)
    end
    choice.act()
  end)
end

vim.api.nvim_create_autocmd("FocusGained", {
  group = vim.api.nvim_create_augroup("drawbridge_prompt_focus", {}),
  desc = "Keys that were typed for another window do not count",
  callback = function()
    for _, p in ipairs(M.open) do
      if not p.answered then
        settle.again(p)
      end
    end
  end,
})

return M
