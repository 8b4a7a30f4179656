--- What the bridge says, gathered and carried out a frame at a time: a thousand tokens are one change of the buffer. Order is kept.
local M = {}

M.interval_ms = 16
M.most_tokens = 500 -- that are one change of the buffer
M.budget_ms = 8 -- of a frame; what is left waits for the next one, so that keys come in between

---@class drawbridge.Frame
---@field private queue table<integer, table>
---@field private first integer of what waits
---@field private last integer
---@field private scheduled boolean
---@field private begin fun(run: fun())
---@field private handle fun(item: drawbridge.Said)
local Frame = {}
Frame.__index = Frame

---@class drawbridge.Said
---@field method? string
---@field params? table
---@field parts? string[] tokens that follow each other
---@field fn? fun()

--- begin is called around the items of a frame, handle for each.
---@param begin fun(run: fun())
---@param handle fun(item: table)
---@return drawbridge.Frame
function M.new(begin, handle)
  return setmetatable({ queue = {}, first = 1, last = 0, scheduled = false, begin = begin, handle = handle }, Frame)
end

local tokens = { assistant_token = true, thinking_token = true }

---@param method string
---@param params table
function Frame:add(method, params)
  if tokens[method] then
    local last = self.queue[self.last]
    if
      last
      and last.method == method
      and last.params.message_id == params.message_id
      and last.params.block == params.block
      and #last.parts < M.most_tokens
    then
      last.parts[#last.parts + 1] = params.token
      return
    end
    self:push({ method = method, params = params, parts = { params.token } })
    return
  end
  self:push({ method = method, params = params })
end

--- Runs fn after all that was said before.
---@param fn fun()
function Frame:after(fn)
  self:push({ fn = fn })
end

---@private
function Frame:push(item)
  self.last = self.last + 1
  self.queue[self.last] = item
  if not self.scheduled then
    self.scheduled = true
    vim.defer_fn(function()
      self:flush()
    end, M.interval_ms)
  end
end

--- Carries out what waits.
---@param all? boolean without regard to time
function Frame:flush(all)
  local until_ns = vim.uv.hrtime() + M.budget_ms * 1e6
  self.scheduled = false
  self.begin(function()
    while self.queue[self.first] do
      local item = self.queue[self.first]
      self.queue[self.first] = nil
      self.first = self.first + 1
      local ok, err = xpcall(self.handle, debug.traceback, item)
      if not ok then
        vim.notify("drawbridge: " .. err, vim.log.levels.ERROR)
      end
      if not all and vim.uv.hrtime() > until_ns then
        break
      end
    end
  end)
  if not self.queue[self.first] then
    self.queue, self.first, self.last = {}, 1, 0
  elseif not self.scheduled then
    self.scheduled = true
    vim.defer_fn(function()
      self:flush()
    end, M.interval_ms)
  end
end

return M
