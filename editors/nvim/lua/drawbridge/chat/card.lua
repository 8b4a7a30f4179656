--- A tool use in the conversation: its title, how it goes, what came out.
---
---   ● $ go test ./lamp/...   ✓ 0.7 s        the head: a line of text, its status drawn behind it
---     │ ok   lighthouse/lamp 0.012s         what it said, folded if it is more than a line
---     ● Search for stair   ✓                a subagent's own cards stand inside
local config = require("drawbridge.config")
local protocol = require("drawbridge.protocol")
local text = require("drawbridge.text")
local transcript = require("drawbridge.chat.transcript")

local M = {}

local title_lines, title_bytes = 3, 600
local output_bytes = 64 * 1024

---@class drawbridge.Card
---@field id string
---@field use drawbridge.ToolUse
---@field result? drawbridge.ToolResult
---@field output? string all of what it said
---@field parent? drawbridge.Card
---@field whole boolean whether all of the title is shown
---@field state string
---@field private t drawbridge.Transcript
---@field private head integer mark of the first row
---@field private last integer mark of its own last row
---@field private tail integer mark of the last row, with the cards inside
---@field private started number
---@field private indent string
local Card = {}
Card.__index = Card

local function now()
  return vim.uv.hrtime() / 1e6
end

---@param t drawbridge.Transcript
---@param use drawbridge.ToolUse
---@param parent? drawbridge.Card
---@return drawbridge.Card
function M.new(t, use, parent)
  local self = setmetatable({ t = t, id = use.tool_use_id, use = use, parent = parent, state = "running", started = now() }, Card)
  self.indent = parent and parent.indent .. "  " or ""
  local title = text.visible(use.title)
  local lines, rest, cut = text.head(title, title_lines, title_bytes)
  self.whole = rest == 0 and not cut
  self.shown = not cut and #lines or nil
  if not self.whole then
    lines[#lines] = lines[#lines] .. " …"
  end
  lines[1] = self.indent .. (use.kind == "execute" and "● $ " or "● ") .. (lines[1] or use.name)
  for i = 2, #lines do
    lines[i] = self.indent .. "    " .. lines[i]
  end
  local row
  if parent then
    row = t:insert(t:row(parent.tail) + 1, lines)
  else
    if t.stacked then
      t:close()
    else
      t:gap()
    end
    row = t:append(lines)
    t.stacked = true
  end
  self.head = t:mark(row)
  self.last, self.tail = t:mark(row + #lines - 1), t:mark(row + #lines - 1)
  t:paint(row, row + #lines - 1, "DrawbridgeTool")
  if parent then
    parent:grow(row + #lines - 1)
  end
  self:draw()
  return self
end

--- The rows of the card itself, without the cards inside.
---@return integer first
---@return integer last
function Card:rows()
  return self.t:row(self.head), self.t:row(self.last)
end

--- The rows of the card with its output and the cards inside.
---@return integer first
---@return integer last
function Card:extent()
  return self.t:row(self.head), self.t:row(self.tail)
end

--- The cards around it end no sooner than it does.
---@private
function Card:grow(row)
  if self.t:row(self.tail) < row then
    self.t:mark(row, { id = self.tail })
  end
  if self.parent then
    self.parent:grow(row)
  end
end

--- Adds lines at the end of the card, above the cards inside unless below is set.
---@param lines string[]
---@param group? string
---@return integer first row
function Card:add(lines, group, below)
  local at = self.t:row(below and self.tail or self.last) + 1
  for i, line in ipairs(lines) do
    lines[i] = self.indent .. line
  end
  self.t:insert(at, lines)
  local last = at + #lines - 1
  if not below or self.t:row(self.last) == at - 1 then
    self.t:mark(last, { id = self.last })
  end
  self:grow(last)
  if group then
    self.t:paint(at, last, group)
  end
  return at
end

--- Shows all of something that is to be decided on.
---@param display string
function Card:show_whole(display)
  if self.whole then
    return
  end
  self.whole = true
  display = text.visible(display)
  local lines = text.lines(display)
  if self.shown and vim.startswith(display, text.visible(self.use.title)) then
    -- What is shown already goes on below.
    local row = self.t:row(self.last)
    local line = vim.api.nvim_buf_get_lines(self.t.buf, row, row + 1, true)[1]
    vim.api.nvim_buf_set_text(self.t.buf, row, #line - #" …", row, #line, {})
    lines = vim.list_slice(lines, self.shown + 1)
  end
  for i, line in ipairs(lines) do
    lines[i] = "    " .. line
  end
  self:add(lines, "DrawbridgeTool")
end

local groups = {
  [" "] = "DrawbridgeOutput",
  ["+"] = "DrawbridgeAdded",
  ["-"] = "DrawbridgeRemoved",
  ["@"] = "DrawbridgeHint",
}

--- Shows the hunks of a diff.
---@param diff drawbridge.Diff
---@param most integer at most so many lines
function Card:show_diff(diff, most)
  self.has_diff = true
  local new, old = diff.new_text, diff.old_text
  local lines
  if diff.omitted_bytes or not new then
    lines = { ("@ the file is too large to be shown here (%s bytes)"):format(diff.omitted_bytes or "?") }
  else
    local unified = require("drawbridge.compare").unified(old or "", new)
    lines = text.lines(unified)
  end
  local shown = {}
  for i = 1, math.min(#lines, most) do
    shown[i] = "  │ " .. lines[i]
  end
  if #lines > most then
    shown[#shown + 1] = ("  │ @ … %d more lines: v shows them all"):format(#lines - most)
  end
  local at = self:add(shown)
  for i, line in ipairs(shown) do
    local group = groups[line:sub(#"  │ " + 1, #"  │ " + 1)]
    if group then
      self.t:paint(at + i - 1, at + i - 1, group)
    end
  end
end

--- What is drawn behind the title.
---@return [string, string][]
function Card:status()
  local state, note = self.state, { self.note or "", "DrawbridgeHint" }
  if state == "running" then
    local elapsed = self.elapsed or now() - (self.let_through or self.started)
    return { { elapsed >= 1000 and "  " .. text.duration(elapsed) or "", "DrawbridgeRunning" }, note }
  elseif state == "waiting" then
    return { { "  waits for you", "DrawbridgeWaiting" } }
  elseif state == "ok" then
    return { { self.took and "  " .. text.duration(self.took) or "", "DrawbridgeHint" }, note }
  elseif state == "background" then
    return { { "  in the background", "DrawbridgeRunning" } }
  end
  return { { "  " .. (state == "error" and "failed" or state), "DrawbridgeError" }, note }
end

local signs = {
  running = { "●", "DrawbridgeRunning" },
  background = { "●", "DrawbridgeRunning" },
  waiting = { "?", "DrawbridgeWaiting" },
  ok = { "✓", "DrawbridgeOk" },
}

--- Draws how it goes: a sign over the bullet, which no narrow window cuts off, and words behind the title.
function Card:draw()
  local row = self.t:row(self.head)
  self.t:mark(row, { id = self.head, virt_text = self:status(), virt_text_pos = "eol" })
  self.sign = vim.api.nvim_buf_set_extmark(self.t.buf, transcript.ns, row, #self.indent, {
    id = self.sign,
    virt_text = { signs[self.state] or { "✗", "DrawbridgeError" } },
    virt_text_pos = "overlay",
  })
end

---@param state string
---@param note? string
function Card:set(state, note)
  self.state, self.note = state, note and (" " .. note) or self.note
  self:draw()
end

---@param elapsed_ms integer
function Card:progress(elapsed_ms)
  self.elapsed = elapsed_ms
end

function Card:running()
  return self.state == "running" or self.state == "background"
end

--- It is over.
---@param result drawbridge.ToolResult
function Card:finish(result)
  if self.result then
    return
  end
  self.result = result
  self.output = protocol.content_text(result.content)
  local took = now() - (self.let_through or self.started)
  self.took = self.state ~= "waiting" and took >= 100 and took or nil
  local by = result.permission
  local note
  if by and by.by ~= "user" and by.rule then
    note = (" (%s by the rule %s)"):format(by.decision == "allow" and "allowed" or "denied", text.visible(by.rule))
  end
  self.state, self.note = result.outcome, note or self.note
  if result.diff and not self.has_diff then
    self:show_diff(result.diff, 40)
  end
  -- What a file holds, and that an edit was made, the user knows or can see.
  if result.outcome == "denied" or (self.has_diff and not result.is_error) then
    return self:draw()
  end
  local lines, rest, cut = text.head(self.output, config.get().output_lines, output_bytes)
  for i, line in ipairs(lines) do
    -- A line of a megabyte is as bad as a million lines.
    if #line > transcript.longest_line then
      line, cut = line:sub(1, transcript.longest_line + vim.str_utf_end(line, transcript.longest_line)), true
    end
    lines[i] = "  │ " .. (line:gsub("\r$", ""))
  end
  if rest > 0 or cut or result.truncated then
    local more = rest > 0 and ("%d more lines"):format(rest) or "more"
    lines[#lines + 1] = ("  │ … %s (<CR> opens all)"):format(more)
    if result.truncated then
      lines[#lines + 1] = ("  │ … the bridge has cut it: %d bytes in all"):format(result.truncated.original_bytes)
    end
  end
  if #lines == 1 and vim.trim(self.output) == "" then
    lines = {}
  end
  if #lines > 0 then
    local at = self:add(lines, result.is_error and "DrawbridgeErrorText" or "DrawbridgeOutput", true)
    self.t:fold(at, at + #lines - 1)
  end
  self:draw()
end

--- The turn is over and no result came.
function Card:abandon()
  if not self.result and self.state ~= "background" then
    self.result = { tool_use_id = self.id, outcome = "interrupted", is_error = true }
    self:set("interrupted")
  end
end

--- Everything about it, for a window of its own.
---@return string[]
function Card:details()
  local lines = { "# " .. self.use.name, "" }
  vim.list_extend(lines, text.lines(text.visible(self.use.title)))
  vim.list_extend(lines, { "", "## Input", "" })
  vim.list_extend(lines, text.lines(vim.inspect(self.use.input)))
  if self.output then
    vim.list_extend(lines, { "", "## Output (" .. self.state .. ")", "" })
    vim.list_extend(lines, text.lines(self.output))
  end
  return lines
end

return M
