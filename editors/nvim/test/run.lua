-- nvim --clean --headless -l test/run.lua [PATTERN]   runs the specs whose names match; DRAWBRIDGE names the program.
local here = vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(_G.arg[0])))
package.path = here .. "/?.lua;" .. package.path
local wanted = _G.arg[1]
local child = require("child")
local passed, failed = 0, {}

--- A test with an editor of its own.
function _G.it(name, options, fn)
  if wanted and not name:find(wanted) then
    return
  end
  local began = vim.uv.hrtime()
  local c
  local ok, err = xpcall(function()
    c = child.start(options)
    fn(c)
  end, function(e)
    return tostring(e):gsub("\nstack traceback.*", "") .. debug.traceback("", 2):gsub("\n[^\n]*%[C%][^\n]*", "")
  end)
  if c then
    c:stop()
  end
  local took = (vim.uv.hrtime() - began) / 1e6
  if ok then
    passed = passed + 1
    io.stdout:write(("ok %s (%d ms)\n"):format(name, took))
  else
    failed[#failed + 1] = name
    io.stdout:write(("NOT OK %s\n  %s\n"):format(name, (tostring(err):gsub("\n", "\n  "))))
  end
end

function _G.eq(want, got)
  if not vim.deep_equal(want, got) then
    error(("wanted %s\ngot    %s"):format(vim.inspect(want), vim.inspect(got)), 2)
  end
end

function _G.has(text, part)
  if not text:find(part, 1, true) then
    error(("%q is not in\n%s"):format(part, text), 2)
  end
end

function _G.lacks(text, part)
  if text:find(part, 1, true) then
    error(("%q is in\n%s"):format(part, text), 2)
  end
end

io.stdout:setvbuf("line")
io.stdout:write(("Neovim %s\n"):format(tostring(vim.version())))
for _, file in ipairs(vim.fn.glob(here .. "/specs/*_spec.lua", true, true)) do
  dofile(file)
end
io.stdout:write(("%d passed, %d failed\n"):format(passed, #failed))
os.exit(#failed == 0 and 0 or 1)
