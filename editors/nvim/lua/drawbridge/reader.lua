--- How frames are cut out of what the bridge writes.
---
--- vim.lsp.rpc's own read loop copies all it has read for every frame in it, and hands on whatever has come at once: up to 2 MiB, that is
--- ten thousand tokens. A long answer stops Neovim for tens of seconds that way (measured with 100,000 tokens on 0.10.4 and 0.12.4). While
--- our process is started, and only then, the loop below stands in its place; everything else of vim.lsp.rpc is used as it is.
local M = {}

--- So long frames are handed on at a stretch; then keys have their turn.
M.budget_ms = 4

---@param handle_body fun(body: string)
---@param on_exit? fun()
---@param on_error? fun(err: any, kind: integer)
---@return fun(err?: string, chunk?: string)
function M.loop(handle_body, on_exit, on_error)
  local kinds = vim.lsp.rpc.client_errors
  local chunks, first, last = {}, 1, 0 -- read, not looked at yet
  local rest, at = "", 1 -- what is being cut, and from where
  local want ---@type integer? the length of the body that is being read
  local parts, have = {}, 0 -- of a body that is not complete yet
  local ended, broken = false, false
  local timer ---@type uv.uv_timer_t?

  --- The next body, or nil if more must be read first.
  local function cut()
    while true do
      if not want then
        local header, body = rest:find("\r\n\r\n", at, true)
        if header then
          want = tonumber(rest:sub(at, header - 1):lower():match("content%-length:%s*(%d+)"))
          if not want then
            broken = true
            return on_error and on_error("a frame without Content-Length", kinds.INVALID_SERVER_MESSAGE)
          end
          at = body + 1
        end
      end
      if want and have + #rest - at + 1 >= want then
        local stop = at + want - have - 1
        local body = rest:sub(at, stop)
        if have > 0 then
          parts[#parts + 1] = body
          body, parts, have = table.concat(parts), {}, 0
        end
        at, want = stop + 1, nil
        return body
      end
      if first > last then
        return
      end
      local chunk = chunks[first]
      chunks[first] = nil
      first = first + 1
      if want then -- a long body is put together once, not with every chunk
        parts[#parts + 1], have = rest:sub(at), have + #rest - at + 1
        rest, at = chunk, 1
      else
        rest, at = rest:sub(at) .. chunk, 1
      end
    end
  end

  local function run()
    local until_ns = vim.uv.hrtime() + M.budget_ms * 1e6
    while not broken do
      local body = cut()
      if not body then
        break
      end
      handle_body(body)
      if vim.uv.hrtime() > until_ns then
        timer = timer or assert(vim.uv.new_timer())
        -- What was handed on waits on the main loop. The next stretch begins behind it, and after a look at the keys and the screen.
        vim.schedule(function()
          timer:start(1, 0, run)
        end)
        return
      end
    end
    if timer then
      timer:close()
      timer = nil
    end
    if ended and on_exit then
      on_exit()
    end
  end

  return function(err, chunk)
    if err then
      return on_error and on_error(err, kinds.READ_ERROR)
    elseif chunk then
      last = last + 1
      chunks[last] = chunk
    else
      ended = true
    end
    if not timer then
      run()
    end
  end
end

--- Calls vim.lsp.rpc.start with the loop above in place. On an editor whose vim.lsp.rpc is built otherwise, its own is used.
---@param ... any as vim.lsp.rpc.start
---@return vim.lsp.rpc.PublicClient
function M.start(...)
  local rpc = vim.lsp.rpc --[[@as table]]
  local own = rpc.create_read_loop
  if type(own) == "function" then
    rpc.create_read_loop = M.loop
  end
  local ok, result = pcall(rpc.start, ...)
  rpc.create_read_loop = own
  if not ok then
    error(result, 0)
  end
  return result
end

return M
