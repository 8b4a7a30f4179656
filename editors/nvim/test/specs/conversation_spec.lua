it("an answer streams into the conversation as it was written", {
  script = "-- default --\nthink Short, then.\ntext **Bold** and `code`.\n",
}, function(c)
  c:say("hello")
  c:idle()
  local chat = c:chat()
  has(chat, "hello")
  has(chat, "> Short, then.")
  has(chat, "**Bold** and `code`.")
  eq("", chat:match("[^\n]*$")) -- the tail is empty
end)

it("nothing is started before the conversation opens", {}, function(c)
  eq(false, c:lua([[return package.loaded["drawbridge.session"] ~= nil]]))
  eq("", c:lua([[return require("drawbridge").statusline()]]))
  c:command("Drawbridge")
  c:wait([[return require("drawbridge.session").current.id]])
  eq("ready", c:lua([[return require("drawbridge.client").state]]))
end)

it("a message sent before Claude is ready is kept and sent", { script = "latency 50ms\n-- default --\ntext Here: $PROMPT\n" }, function(c)
  c:lua([[require("drawbridge").send("early")]])
  c:idle()
  has(c:chat(), "Here: early")
end)

it("messages written while Claude works wait their turn, and can be taken back", {
  script = "-- first --\ntext Working.\ndelay 3s\n-- default --\ntext Then: $PROMPT\n",
}, function(c)
  c:say("first")
  c:see("Working%.")
  c:keys("isecond<Esc><CR>")
  c:see("queued ❯ second")
  c:keys("ithird<Esc><CR>")
  c:see("queued ❯ third")
  c:command("Drawbridge unqueue")
  c:choose("Take out of the queue", 1)
  c:see("queued ❯ third")
  c:wait([[return #require("drawbridge.session").current:queued() == 1]])
  eq("second", c:lua([[return require("drawbridge.session").current.view:draft()]]))
  c:idle()
  has(c:chat(), "Then: third")
  lacks(c:chat(), "Then: second")
end)

it("interrupting ends the turn and says so", { script = "-- default --\ntext Wait.\nhang\n" }, function(c)
  c:say("go")
  c:see("Wait%.")
  c:keys("<C-c>")
  c:idle()
  has(c:chat(), "── interrupted ──")
end)

it("a window that was scrolled up stays where it is", {
  script = "-- default --\ntokens 600 every 1ms\n",
}, function(c)
  c:lua([[require("drawbridge.chat.transcript").longest_line = 60]])
  c:say("go")
  c:see("t0000100")
  c:keys("<C-w>kgg")
  c:wait([[return vim.api.nvim_win_get_cursor(0)[1] == 1]])
  c:idle()
  eq(1, c:lua([[return vim.api.nvim_win_get_cursor(0)[1] ]]))
  has(c:chat(), "t0000599")
end)

it(
  "the focus stays in the file while Claude answers",
  { script = "-- default --\ntext Done.\n", files = { ["a.txt"] = "x\n" } },
  function(c)
    c:command("edit a.txt")
    c:lua([[require("drawbridge").send("go")]])
    c:idle()
    eq("a.txt", c:lua([[return vim.fn.expand("%:t")]]))
  end
)

it("a failed turn says what to do", { script = "-- default --\nfail 401 Invalid API key\n" }, function(c)
  c:say("go")
  c:idle()
  has(c:chat(), "✗")
  has(c:chat(), "Log in: run `claude`")
end)

it("long output is cut with a marker and can be opened whole", {
  script = "-- default --\nbash seq 1 1000\nrun\nresult <<END\n"
    .. table.concat(vim.tbl_map(tostring, vim.fn.range(1, 1000)), "\n")
    .. "\nEND\ntext Done.\n",
}, function(c)
  c:say("go")
  c:idle()
  has(c:chat(), "│ 200")
  has(c:chat(), "… 800 more lines (<CR> opens all)")
  lacks(c:chat(), "│ 201")
  c:keys("<C-w>k")
  c:lua([[vim.fn.search("seq 1 1000", "bw")]])
  c:keys("<CR>")
  c:see("## Output")
  has(table.concat(c:lua([[return vim.api.nvim_buf_get_lines(0, 0, -1, false)]]), "\n"), "\n1000")
end)

it("output of more than a line is folded away", {
  script = "-- default --\nbash seq 1 3\nrun\nresult <<END\n1\n2\n3\nEND\n",
}, function(c)
  c:say("go")
  c:idle()
  c:see("│ 1 %+2 lines")
end)

it("an answer that is cut off and redone is shown once", { script = "-- default --\ntext Wrong.\nabandon\ntext Right.\n" }, function(c)
  c:say("go")
  c:idle()
  has(c:chat(), "Right.")
  lacks(c:chat(), "Wrong.")
end)

it("a subagent's tools stand inside its card", {
  script = '-- default --\nsubagent Explore "Count" {\ntool Grep {"pattern":"stair"}\nresult 199\n}\nresult 199 stairs.\ntext Back.\n',
}, function(c)
  c:say("go")
  c:idle()
  has(c:chat(), "\n  ● Search for stair")
  local chat = c:chat()
  assert(chat:find("Search for stair", 1, true) < chat:find("199 stairs", 1, true), chat)
end)

it("closing one window of the conversation closes the other, and it goes on", { script = "-- default --\ntext Done.\n" }, function(c)
  c:command("Drawbridge")
  eq(3, c:lua([[return #vim.api.nvim_list_wins()]]))
  c:keys(":q<CR>")
  c:wait([[return #vim.api.nvim_list_wins() == 1]])
  c:lua([[require("drawbridge").send("go")]])
  c:idle()
  has(c:chat(), "Done.")
end)

it("wide lines are broken at blanks, and nothing is lost", { script = "-- default --\ntokens 5000\n" }, function(c)
  c:say("go")
  c:idle()
  local lines = vim.split(c:chat(), "\n", { plain = true })
  local said = {}
  for _, line in ipairs(lines) do
    assert(#line <= 2000, #line)
    if line:find("^t%d") then
      said[#said + 1] = line
    end
  end
  eq(5000 * 9, #table.concat(said))
end)
