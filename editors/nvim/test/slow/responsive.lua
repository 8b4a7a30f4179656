-- nvim --clean --headless -l test/slow/responsive.lua   measures a key press while a long answer streams, and the memory it takes.
-- Prints what it measured and fails where a limit of the project is missed.
local here = vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(_G.arg[0])))
package.path = vim.fs.dirname(here) .. "/?.lua;" .. package.path
local child = require("child")

local function resident(pid)
  local status = assert(io.open("/proc/" .. pid .. "/status")):read("*a")
  return tonumber(status:match("VmRSS:%s+(%d+)")) / 1024
end

--- Presses a key again and again and waits each time until the editor has done what it means and drawn it.
local function latencies(c, done)
  local times = {}
  c:lua(
    [[
    local channel = ...
    vim.keymap.set({ "n", "i" }, "<F5>", function()
      vim.cmd.redraw()
      vim.rpcnotify(channel, "nvim_exec_lua", "_G.pong = (_G.pong or 0) + 1", {})
    end)
  ]],
    vim.rpcrequest(c.channel, "nvim_get_api_info")[1]
  )
  local t
  repeat
    t = vim.uv.hrtime()
    local before = _G.pong or 0
    vim.rpcrequest(c.channel, "nvim_input", "<F5>")
    vim.wait(10000, function()
      return (_G.pong or 0) > before
    end, 1)
    times[#times + 1] = (vim.uv.hrtime() - t) / 1e6
    vim.wait(20)
  until done()
  table.sort(times)
  return times
end

local function at(times, p)
  return times[math.max(math.ceil(#times * p), 1)]
end

local bad = false
local function measure(name, script, limits)
  local c = child.start({ script = script, width = 160, height = 50 })
  local pid = c:lua("return vim.fn.getpid()")
  c:say("hello")
  c:idle()
  local before = resident(pid)
  -- The editor itself tells when the turn is over: to ask it would be one more thing it has to answer.
  c:lua(
    [[
    local channel = ...
    local timer = vim.uv.new_timer()
    timer:start(200, 50, vim.schedule_wrap(function()
      local s = require("drawbridge.session").current
      if s.status.state == "idle" and #s.sent == 0 and not s.frame.scheduled and not timer:is_closing() then
        timer:close()
        vim.rpcnotify(channel, "nvim_exec_lua", "_G.over = true", {})
      end
    end))
  ]],
    vim.rpcrequest(c.channel, "nvim_get_api_info")[1]
  )
  _G.over = false
  c:keys("igo<Esc><CR>")
  local began = vim.uv.hrtime()
  local times = latencies(c, function()
    return _G.over
  end)
  local took = (vim.uv.hrtime() - began) / 1e9
  c:lua("collectgarbage()")
  local grown = resident(pid) - before
  io.stdout:write(
    ("%-34s %5.1f s  %4d keys  p50 %5.1f ms  p99 %5.1f ms  max %5.1f ms  memory %+.0f MB  %d lines\n"):format(
      name,
      took,
      #times,
      at(times, 0.5),
      at(times, 0.99),
      times[#times],
      grown,
      c:lua([[return vim.api.nvim_buf_line_count(require("drawbridge.session").current.view.text_buf)]])
    )
  )
  if at(times, 0.99) > limits.p99 or grown > limits.memory then
    bad = true
    io.stdout:write("  missed: p99 below ", limits.p99, " ms, memory below ", limits.memory, " MB\n")
  end
  c:stop()
end

io.stdout:setvbuf("line")
local hello = "-- hello --\ntext Hello.\n"
measure("100,000 tokens in ten seconds", hello .. "-- go --\ntokens 100000 every 100us\n", { p99 = 30, memory = 50 })
measure("100,000 tokens as fast as can be", hello .. "-- go --\ntokens 100000\n", { p99 = 100, memory = 50 }) -- too few keys for a p99
measure("a result of 10 MB", hello .. "-- go --\nbash cat big\nrun\nresult bytes 10MB\ntext Done.\n", { p99 = 100, memory = 50 })
os.exit(bad and 1 or 0)
