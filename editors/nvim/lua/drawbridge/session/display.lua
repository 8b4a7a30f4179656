--- What a conversation shows: messages, errors and notices in its text, and below it what goes on just now.
local config = require("drawbridge.config")
local prompt = require("drawbridge.prompt")
local text = require("drawbridge.text")

---@class drawbridge.Session
local Session = {}

--- How state and turn are told to the user.
local working = {
  starting = "Claude is starting",
  running = "Claude is working",
  waiting_permission = "Claude waits for your permission",
  waiting_answer = "Claude waits for your answer",
  retrying = "The API did not answer, trying again",
  interrupting = "Interrupting",
  compacting = "Claude is compacting the conversation",
}
---@param message string
function Session:show_user(message)
  self.last_error = nil
  local t = self.view.transcript
  t:gap()
  local lines = text.lines(message)
  local row = t:append(lines)
  for i = 0, #lines - 1 do
    t:mark(row + i, { virt_text = { { i == 0 and "❯ " or "  ", "DrawbridgeUser" } }, virt_text_pos = "inline" })
  end
  t:paint(row, row + #lines - 1, "DrawbridgeUser")
  t:gap()
end

---@param message string
---@param remedy? string
---@param details? string
function Session:show_error(message, remedy, details)
  if self.last_error == message then
    return -- what ends a turn is often told as a notice too
  end
  self.last_error = message
  local t = self.view.transcript
  t:gap()
  local lines = text.lines(text.visible(message))
  lines[1] = "✗ " .. lines[1]
  local row = t:append(lines)
  t:paint(row, row + #lines - 1, "DrawbridgeErrorText")
  if remedy then
    local at = t:append({ "  " .. text.visible(remedy) })
    t:paint(at, at, "DrawbridgeWarning")
  end
  if details and vim.trim(details) ~= "" then
    local shown = {}
    for _, line in ipairs(text.lines(text.visible(details))) do
      shown[#shown + 1] = "  │ " .. line
    end
    local at = t:append(shown)
    t:paint(at, at + #shown - 1, "DrawbridgeOutput")
  end
  t:gap()
end

---@param level string
---@param message string
---@param remedy? string
function Session:show_notice(level, message, remedy)
  if level == "error" then
    return self:show_error(message, remedy)
  end
  local t = self.view.transcript
  t:gap()
  local row = t:append(text.lines("! " .. text.visible(message) .. (remedy and "\n  " .. text.visible(remedy) or "")))
  t:paint(row, t:tail() - 1, level == "warning" and "DrawbridgeWarning" or "DrawbridgeNotice")
  t:gap()
end

---@param label string
function Session:show_rule(label)
  local t = self.view.transcript
  t:gap()
  local row = t:append({ "── " .. label .. " ──" })
  t:paint(row, row, "DrawbridgeHint")
  t:gap()
end

--- The card the cursor is on.
---@return drawbridge.Card?
function Session:card_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found, smallest
  for _, c in pairs(self.cards) do
    local first, last = c:extent()
    if first <= row and row <= last and (not smallest or last - first < smallest) then
      found, smallest = c, last - first
    end
  end
  return found
end

--- What goes on just now, drawn between the text and its tail.
function Session:draw_tail()
  local lines = {}
  local width = self.view:width() - 4
  local function one(s)
    s = text.visible((s:gsub("\n.*", " …")))
    return vim.fn.strdisplaywidth(s) > width - 12 and vim.fn.strcharpart(s, 0, width - 13) .. "…" or s
  end
  local marks =
    { completed = { "✓ ", "DrawbridgeTodoDone" }, in_progress = { "▶ ", "DrawbridgeTodoNow" }, pending = { "○ ", "DrawbridgeTodo" } }
  for _, item in ipairs(self.todos) do
    local mark = marks[item.status] or marks.pending
    local label = item.status == "in_progress" and item.active_form or item.content
    lines[#lines + 1] = { { "  " .. mark[1] .. one(label), mark[2] } }
  end
  local status = self.status
  if working[status.state] then
    local line = { { "  ✻ " .. working[status.state], "DrawbridgeRunning" } }
    if status.state == "retrying" then
      line[#line + 1] =
        { (" (%d of %d) %s"):format(status.attempt or 0, status.max_attempts or 0, text.visible(status.error or "")), "DrawbridgeWarning" }
    elseif status.quiet_ms then
      line[#line + 1] = { (", silent for %s"):format(text.duration(status.quiet_ms)), "DrawbridgeWarning" }
    elseif self.since then
      line[#line + 1] = { " · " .. text.duration(vim.uv.now() - self.since), "DrawbridgeHint" }
      local key = config.get().keys.interrupt
      if key and width > 54 then
        line[#line + 1] = { "  " .. key .. " interrupts", "DrawbridgeHint" }
      end
    end
    lines[#lines + 1] = line
  end
  local queued = self:queued()
  for i, sent in ipairs(queued) do
    local behind = i > 1 or self.since ~= nil
    lines[#lines + 1] = { { behind and "  queued ❯ " or "  ❯ ", "DrawbridgeHint" }, { one(sent.text), "DrawbridgeOutput" } }
  end
  if #lines > 0 then
    table.insert(lines, 1, { { "", "Normal" } })
  end
  self.view.transcript:draw_tail(lines)
end

--- Draws the tail with the next frame.
function Session:draw_tail_soon()
  self.frame:after(function()
    self:draw_tail()
  end)
end

--- Draws anew what depends on the width of the window.
function Session:redraw()
  self:draw_tail()
  for _, p in ipairs(prompt.open) do
    if p.session == self then
      prompt.draw(p)
    end
  end
end

--- While something runs, its clock is shown.
---@private
function Session:tick()
  local busy = working[self.status.state] ~= nil
  if busy and not self.clock then
    self.clock = assert(vim.uv.new_timer())
    self.clock:start(
      1000,
      1000,
      vim.schedule_wrap(function()
        if not vim.api.nvim_buf_is_valid(self.view.text_buf) or not self.clock then
          return
        end
        self.view.transcript:write(function()
          self:draw_tail()
          for _, c in pairs(self.running or {}) do
            c:draw()
          end
        end)
      end)
    )
  elseif not busy and self.clock then
    self.clock:stop()
    self.clock:close()
    self.clock = nil
  end
end

---@param status drawbridge.Status
function Session:set_status(status)
  self.status = status
  self:tick()
  self:draw_tail_soon()
  vim.cmd.redrawstatus({ bang = true })
end

return Session
