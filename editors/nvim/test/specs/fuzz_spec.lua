-- 2,000 random keys while prompts come and go: whatever was allowed, the cursor was on its prompt, which had been looked at.
it(
  "keys typed blindly approve nothing",
  { options = { settle_ms = 300 }, files = { ["a.txt"] = ("word word word\n"):rep(40) } },
  function(c)
    c:command("edit a.txt")
    c:command("Drawbridge")
    c:wait([[return require("drawbridge.session").current.id]])
    c:lua([[
    local prompt = require("drawbridge.prompt")
    local s = require("drawbridge.session").current
    _G.violations, _G.allowed, _G.denied, _G.asked = {}, 0, 0, 0
    -- The press of a key is witnessed before the plugin sees it.
    local witness = nil
    vim.on_key(function()
      local p = vim.api.nvim_get_mode().mode == "n" and prompt.at_cursor() or nil
      witness = p and { id = p.id, age = (vim.uv.hrtime() - _G.born[p.id]) / 1e6 } or nil
    end)
    _G.born = {}
    local function ask()
      _G.asked = _G.asked + 1
      local id = "p_" .. _G.asked
      _G.born[id] = vim.uv.hrtime()
      s:ask("permission_request", {
        prompt_id = id, tool_use_id = "t_" .. _G.asked, tool = "Bash", kind = "execute", title = "rm -rf " .. _G.asked,
        display = "rm -rf " .. _G.asked, input = { command = "rm -rf " .. _G.asked }, command = "rm -rf " .. _G.asked,
        editable = { "command" }, flags = {}, risk_level = "high", reason = { source = "default", text = "no rule" },
        scopes = { "once", "session", "project", "user" }, rules = { "Bash(rm *)" }, modes = {},
      }, function(result)
        if result and result.decision == "allow" then
          _G.allowed = _G.allowed + 1
          local in_proposal = vim.api.nvim_buf_get_name(0):find("drawbridge://" .. id, 1, true)
          if not in_proposal and (not witness or witness.id ~= id) then
            table.insert(_G.violations, id .. ": the cursor was not on it")
          elseif (vim.uv.hrtime() - _G.born[id]) / 1e6 < 300 then
            table.insert(_G.violations, id .. ": too early")
          end
        elseif result then
          _G.denied = _G.denied + 1
        end
        vim.schedule(function()
          s.frame:add("prompt_resolved", { prompt_id = id, outcome = result and "denied" or "withdrawn", by = "user" })
        end)
      end)
    end
    _G.coming = vim.uv.new_timer()
    _G.coming:start(0, 100, vim.schedule_wrap(function()
      if #prompt.open < 3 then
        ask()
      elseif math.random() < 0.3 then
        local p = prompt.open[math.random(#prompt.open)]
        s.frame:add("prompt_resolved", { prompt_id = p.id, outcome = "withdrawn", by = "interrupt" })
      end
    end))
  ]])
    local keys = vim.split(
      "a A s d e ? m o c 1 2 y n j k l h w b <CR> <Esc> <Space> <Tab> <C-d> <C-u> <C-w>w <C-w>k <C-w>j ]p [p G gg x p u : i v ga gd",
      " "
    )
    math.randomseed(20261121)
    local function escape()
      vim.rpcrequest(c.channel, "nvim_input", "<C-\\><C-n><Esc>")
    end
    for i = 1, 2000 do
      vim.rpcrequest(c.channel, "nvim_input", keys[math.random(#keys)])
      if i % 10 == 0 then
        escape()
        vim.wait(math.random(30))
      end
      if i % 80 == 0 then -- somebody who looks before typing: that one does count
        escape()
        c:command("silent! tabonly | Drawbridge prompt")
        vim.wait(600)
        vim.rpcrequest(c.channel, "nvim_input", "a")
        vim.wait(50)
      end
    end
    escape()
    vim.wait(500)
    assert(c:lua("return _G.allowed") > 0, "nothing was ever allowed: the fuzz shows nothing")
    eq({}, c:lua("return _G.violations"))
    io.stdout:write(
      ("  %s\n"):format(
        c:lua([[return ("%d asked, %d allowed by a key on the prompt, %d denied"):format(_G.asked, _G.allowed, _G.denied)]])
      )
    )
  end
)
