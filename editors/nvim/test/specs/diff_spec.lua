local edit = [[
real
-- edit --
tool Edit {"file_path":"lamp.toml","old_string":"period = \"10s\"","new_string":"period = \"5s\""}
ask
on allow {
	text Now: $INPUT.new_string
}
on deny {
	text Rejected: $REASON
}
-- write --
tool Write {"file_path":"new.txt","content":"one\ntwo\n"}
ask
text Written.
]]

local files = { ["lamp.toml"] = '[lamp]\nperiod = "10s"\n' }

local function open_diff(c, message)
  c:say(message)
  c:asked(1)
  c:keys("]pv")
  c:see("ga accept")
  vim.wait(400)
end

it("an edit is shown as a diff and accepted by its key", { script = edit, files = files }, function(c)
  open_diff(c, "edit")
  eq(2, c:lua([[return #vim.api.nvim_tabpage_list_wins(0)]]))
  eq(true, c:lua([[return vim.wo.diff]]))
  c:keys("ga")
  c:idle()
  has(c:chat(), 'Now: period = "5s"')
  eq(1, c:lua([[return #vim.api.nvim_list_tabpages()]]))
end)

it("closing the diff rejects and says so", { script = edit, files = files }, function(c)
  open_diff(c, "edit")
  c:keys(":q<CR>")
  c:see("closed without accepting")
  c:idle()
  has(c:chat(), "Rejected")
  eq('[lamp]\nperiod = "10s"\n', c:read("lamp.toml"))
end)

it("writing the diff's buffer accepts nothing", { script = edit, files = files }, function(c)
  open_diff(c, "edit")
  c:keys(":w<CR>")
  c:see("nothing is accepted by writing")
  c:command("wall")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
end)

it("the proposed text is changed before it is accepted", { script = edit, files = files }, function(c)
  open_diff(c, "edit")
  c:keys([[:%s/5s/7s/<CR>]])
  c:keys("ga")
  c:idle()
  has(c:chat(), 'period = "7s"')
  eq('[lamp]\nperiod = "7s"\n', c:read("lamp.toml"))
end)

it("a new file is changed before it is written", { script = edit }, function(c)
  open_diff(c, "write")
  c:keys("Gothree<Esc>")
  c:keys("ga")
  c:idle()
  eq("one\ntwo\nthree\n", c:read("new.txt"))
end)

it("windows and buffers of others are left alone when the prompt goes", { script = edit, files = files }, function(c)
  c:command("edit lamp.toml")
  open_diff(c, "edit")
  c:command("split lamp.toml")
  c:command("Drawbridge interrupt")
  c:wait([[return #require("drawbridge.prompt").open == 0]])
  eq("lamp.toml", c:lua([[return vim.fn.expand("%:t")]]))
  eq(2, c:lua([[return #vim.api.nvim_list_tabpages()]]))
  eq(1, c:lua([[return #vim.api.nvim_tabpage_list_wins(0)]]))
end)

it("the edit is drawn at its place in the file, and the file's keys stay its own", { script = edit, files = files }, function(c)
  c:command("edit lamp.toml")
  c:lua([[require("drawbridge").send("edit")]])
  c:asked(1)
  c:see('%+ period = "5s"')
  eq('[lamp]\nperiod = "10s"\n', c:read("lamp.toml"))
  c:keys("ggadx<Esc>")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
  c:command("undo")
  c:command("Drawbridge interrupt")
  c:wait(
    [[return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("lamp.toml"), vim.api.nvim_get_namespaces().drawbridge_inlay, 0, -1, {}) == 0]]
  )
end)

it("the file is read again when the edit is done, but never over unsaved changes", { script = edit, files = files }, function(c)
  c:command("edit lamp.toml")
  c:lua([[require("drawbridge").send("edit")]])
  c:asked(1)
  c:command("Drawbridge prompt")
  c:keys("a")
  c:idle()
  c:wait([[return vim.fn.getbufline("lamp.toml", 2)[1] == 'period = "5s"']])
end)

it("an edit of a file with unsaved changes is asked about", { script = edit, files = files }, function(c)
  c:command("edit lamp.toml")
  c:lua([[vim.api.nvim_buf_set_lines(0, -1, -1, false, { "mine" })]])
  c:lua([[require("drawbridge").send("edit")]])
  c:choose("Not saved: lamp.toml", 3)
  c:asked(1)
  c:see("unsaved changes in this file")
  c:command("Drawbridge prompt")
  c:keys("a")
  c:choose("lamp.toml has unsaved changes", 3)
  c:idle()
  eq("mine", c:lua([[return vim.fn.getbufline("lamp.toml", "$")[1] ]]))
  eq('[lamp]\nperiod = "5s"\n', c:read("lamp.toml"))
end)
