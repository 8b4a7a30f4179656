it("the command completes its subcommands, and is all that is loaded at first", {}, function(c)
  eq(
    false,
    c:lua([[
    for name in pairs(package.loaded) do
      if name:find("^drawbridge") then return true end
    end
    return false
  ]])
  )
  eq({ "send", "sessions", "stop" }, c:lua([[return vim.fn.getcompletion("Drawbridge s", "cmdline")]]))
  eq({ "acceptEdits" }, c:lua([[return vim.fn.getcompletion("Drawbridge mode acc", "cmdline")]]))
end)

it("an option that is wrong is named and left at its default", {}, function(c)
  eq(
    { 'position is one of right, left, bottom, top, tab, not "up"', 'there is no option "colour"' },
    c:lua([[
    return require("drawbridge.config").problems({ position = "up", colour = 1 })
  ]])
  )
  eq(
    "right",
    c:lua([[
    vim.notify = function() end
    require("drawbridge").setup({ position = "up" })
    return require("drawbridge.config").get().position
  ]])
  )
end)

it("the bridge is found on PATH, in the plugin's bin and in the checkout's", {}, function(c)
  eq(
    { "$PATH", true, true },
    c:lua([[
    vim.g.drawbridge = nil
    require("drawbridge.config").reset()
    vim.env.PATH = "/nowhere"
    local found = require("drawbridge.binary").find()
    if found.command then -- a checkout that is built
      return { "$PATH", found.command[1]:find("bin/drawbridge") ~= nil, true }
    end
    return { found.looked[1], found.looked[2]:find("nvim/bin$") ~= nil, #found.looked == 3 }
  ]])
  )
end)

it("a message of the user carries only what was attached, and says so", {
  script = "-- default --\ntext You said: $PROMPT\n",
  files = { ["a.txt"] = "one\ntwo\nthree\n", ["b.txt"] = "b\n" },
}, function(c)
  c:command("edit a.txt")
  c:command("2,3Drawbridge add")
  c:command("Drawbridge add b.txt")
  c:see("%+ a.txt:2%-3  %+ b.txt")
  eq(
    {
      {
        kind = "selection",
        uri = c.work .. "/a.txt",
        text = "two\nthree",
        range = { start = { line = 1, character = 0 }, ["end"] = { line = 2, character = 5 } },
      },
      { kind = "file", uri = c.work .. "/b.txt" },
    },
    c:lua([[
    local out
    require("drawbridge.context").gather(require("drawbridge.session").current, "hello", function(items) out = items end)
    return out
  ]])
  )
  c:say("hello")
  c:idle()
  has(c:chat(), "+ a.txt:2-3")
  eq({}, c:lua([[return require("drawbridge.session").current.attached]]))
end)

it("nothing is attached unless asked for", { files = { ["a.txt"] = "x\n" } }, function(c)
  c:command("edit a.txt")
  c:command("Drawbridge")
  eq(
    {},
    c:lua([[
    local out
    require("drawbridge.context").gather(require("drawbridge.session").current, "hello", function(items) out = items end)
    return out
  ]])
  )
end)

it(
  "a file named with @ goes with the message; @ and / complete",
  { files = { ["lamp.toml"] = "x\n" }, script = "-- default --\ntext ok\n" },
  function(c)
    c:command("Drawbridge")
    c:wait([[local s = require("drawbridge.session").current return s.info.commands]])
    eq(
      { { kind = "file", uri = c.work .. "/lamp.toml" } },
      c:lua([[
    local out
    require("drawbridge.context").gather(require("drawbridge.session").current, "look at @lamp.toml, please", function(items) out = items end)
    return out
  ]])
    )
    c:keys("i@la")
    vim.wait(200)
    c:keys("<Tab>")
    c:wait([[return vim.api.nvim_get_current_line():find("^@lamp.toml")]])
    c:keys("<Esc>cc/comp")
    vim.wait(200)
    c:keys("<Tab>")
    c:wait([[return vim.api.nvim_get_current_line():find("^/compact")]])
  end
)

it("gf on a card opens the file it is about, beside the conversation", {
  files = { ["lamp.toml"] = "x\n" },
  script = "-- default --\nread lamp.toml\nresult x\ntext See lamp.toml:1.\n",
}, function(c)
  c:say("go")
  c:idle()
  c:keys("<C-w>k")
  c:lua([[vim.fn.search("See lamp", "w") vim.fn.search("lamp.toml", "")]])
  c:keys("gf")
  c:wait([[return vim.fn.expand("%:t") == "lamp.toml"]])
  eq(3, c:lua([[return #vim.api.nvim_list_wins()]]))
end)

it("checkhealth tells of the bridge and starts none", {}, function(c)
  c:command("checkhealth drawbridge")
  local report = table.concat(c:lua([[return vim.api.nvim_buf_get_lines(0, 0, -1, false)]]), "\n")
  has(report, "drawbridge 0.1.0")
  has(report, "bridge: stopped")
end)

it("restarting the bridge opens the conversation again", { script = "-- default --\ntext Here.\n" }, function(c)
  c:say("one")
  c:idle()
  c:command("Drawbridge restart")
  c:keys("itwo<Esc><CR>")
  c:idle()
  has(c:chat(), "two")
end)

it(
  "a message whose bridge ends before it was taken is given back",
  { script = "initialize after 60s\n-- default --\ntext Here.\n" },
  function(c)
    c:say("do not lose me")
    c:wait([[return require("drawbridge.session").current.sent[1].request]])
    c:lua([[for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do vim.uv.kill(pid, "sigkill") end]])
    c:see("The bridge is gone")
    c:wait([[return require("drawbridge.session").current.view:draft() == "do not lose me"]])
  end
)

it("the mode is set by a subcommand", { script = "-- default --\ntext ok\n" }, function(c)
  c:say("go")
  c:idle()
  c:command("Drawbridge mode plan")
  c:wait([[return require("drawbridge.session").current.info.permission_mode == "plan"]])
  c:see("plan")
end)
