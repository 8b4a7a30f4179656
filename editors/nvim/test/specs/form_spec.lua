local question = [==[
-- default --
question {"questions":[{"question":"Which color?","header":"Color","options":[{"label":"White","description":"seen from afar"},{"label":"Red","description":""}]},{"question":"Which rooms?","header":"Rooms","multiSelect":true,"options":[{"label":"Tower","description":""},{"label":"Cellar","description":""}]}]}
on allow {
	text So: $ANSWER.Color, $ANSWER.Rooms
}
on deny {
	text Nothing, then.
}
]==]

it("a question is answered by numbers, and only the key that sends sends", { script = question }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]p2")
  c:see("2 %(•%) Red")
  c:see("▶ %[Rooms%]")
  c:keys("12")
  c:see("2 %[x%] Cellar")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
  c:keys("a")
  c:idle()
  has(c:chat(), "So: Red, Tower, Cellar")
end)

it("a question is answered in one's own words", { script = question }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]po")
  c:enter("Your answer", "Blue")
  c:see("own words: Blue")
  c:keys("a")
  c:idle()
  has(c:chat(), "So: Blue")
end)

it("sending without a choice sends nothing; declining is an answer", { script = question }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pa")
  c:see("nothing is chosen yet")
  eq(1, c:lua([[return #require("drawbridge.prompt").open]]))
  c:keys("d")
  c:idle()
  has(c:chat(), "Nothing, then.")
end)

local plan = [[
-- default --
plan <<END
	# A fog horn

	1. Read the humidity.
END
on allow {
	text Approved in mode $MODE.
}
on deny {
	text Not yet: $REASON
}
]]

it("a plan is shown, opened as markdown and approved", { script = plan }, function(c)
  c:say("go")
  c:asked(1)
  has(c:chat(), "1. Read the humidity.")
  c:keys("]po")
  c:see("The plan")
  vim.wait(400)
  c:keys("ga")
  c:idle()
  has(c:chat(), "Approved in mode default")
end)

it("a plan goes back with comments", { script = plan }, function(c)
  c:say("go")
  c:asked(1)
  c:keys("]pD")
  c:enter("What should be different", "twice a day")
  c:idle()
  has(c:chat(), "Not yet: twice a day")
end)

it("a folder's trust is asked once, where there is something to trust, and kept", {
  script = "-- default --\ntext Done.\n",
}, function(c)
  vim.fn.mkdir(c.work .. "/.claude")
  c:write(".claude/settings.json", [[{"hooks":{"PreToolUse":[]}}]])
  c:command("Drawbridge")
  c:asked(1)
  c:see("hook PreToolUse")
  c:keys("]pa")
  c:wait([[local s = require("drawbridge.session").current return s.id and s.info.trust and s.info.trust.trusted]])
  c:command("Drawbridge new")
  c:wait([[local s = require("drawbridge.session").current return s.id and s.info.trust and s.info.trust.trusted]])
  eq({}, c:lua([[return require("drawbridge.prompt").open]]))
end)
