--- When keys count on a prompt: after all of it was on the screen, and then for a while (`settle_ms`). The while is counted in ticks of the
--- main loop and not by a clock, so that keys typed while the editor was busy come too early: they are handled before the next tick.
local config = require("drawbridge.config")
local transcript = require("drawbridge.chat.transcript")

local M = {}

local ticks_to_settle = 6

local drawn = {} ---@type table<integer, integer> how often a buffer with prompts was drawn
local waiting = {} ---@type table<drawbridge.Prompt, true>
local timer ---@type uv.uv_timer_t?

vim.api.nvim_set_decoration_provider(transcript.ns, {
  on_win = function(_, _, buf)
    if drawn[buf] then
      drawn[buf] = drawn[buf] + 1
    end
    return false
  end,
})

--- Whether the prompt's head and its end, what stands below its last line, were on the screen: at once, or one after the other where it is
--- taller than the window.
---@param p drawbridge.Prompt
---@return boolean
function M.on_screen(p)
  local buf = p.card.t.buf
  if drawn[buf] <= p.drawn then
    return false
  end
  local first, last = p.card:rows()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      p.seen_head = p.seen_head or vim.fn.screenpos(win, first + 1, 1).row > 0
      p.seen_end = p.seen_end or vim.fn.screenpos(win, last + 2, 1).row > 0
    end
  end
  return p.seen_head == true and p.seen_end == true
end

local function tick()
  for p in pairs(waiting) do
    if p.over or not vim.api.nvim_buf_is_valid(p.card.t.buf) then
      waiting[p] = nil
    elseif M.on_screen(p) then
      p.ticks = p.ticks + 1
      if p.ticks >= ticks_to_settle then
        waiting[p], p.settled = nil, true
        require("drawbridge.prompt").draw(p)
      end
    end
  end
  if next(waiting) == nil and timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

--- A prompt that has just been drawn.
---@param p drawbridge.Prompt
function M.begin(p)
  local buf = p.card.t.buf
  drawn[buf] = drawn[buf] or 0
  p.drawn = drawn[buf]
  p.settled, p.ticks = false, 0
  waiting[p] = true
  if not timer then
    timer = assert(vim.uv.new_timer())
    local every = math.ceil(config.get().settle_ms / ticks_to_settle)
    timer:start(every, every, vim.schedule_wrap(tick))
  end
end

--- Keys do not count until the prompt has been looked at for a while once more.
---@param p drawbridge.Prompt
function M.again(p)
  local before = p.drawn
  M.begin(p)
  p.drawn = before
  require("drawbridge.prompt").draw(p)
end

return M
