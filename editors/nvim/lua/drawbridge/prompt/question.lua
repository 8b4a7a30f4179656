--- The form of ask_user_question. Nothing is ever chosen for the user, and nothing is sent before the key that sends.
local prompt = require("drawbridge.prompt")
local text = require("drawbridge.text")

local M = {}

---@class drawbridge.Chosen
---@field options table<integer, boolean>
---@field own? string

--- The state of question i.
---@param p drawbridge.Prompt
---@param i integer
---@return drawbridge.Chosen
local function chosen(p, i)
  p.state[i] = p.state[i] or { options = {} }
  return p.state[i]
end

local function current(p)
  return p.state.at or 1
end

local function answered(p, i)
  return next(chosen(p, i).options) ~= nil or chosen(p, i).own ~= nil
end

--- The answers as ask_user_question wants them; a question without one is left out.
---@param p drawbridge.Prompt
---@return table<string, string|string[]>
function M.answers(p)
  local answers = vim.empty_dict()
  for i, question in ipairs(p.params.questions) do
    local labels = {}
    for n, option in ipairs(question.options) do
      if chosen(p, i).options[n] then
        labels[#labels + 1] = option.label
      end
    end
    labels[#labels + 1] = chosen(p, i).own
    if #labels > 0 then
      answers[question.question] = question.multi_select and labels or labels[1]
    end
  end
  return answers
end

local function send(p)
  local answers = M.answers(p)
  if next(answers) == nil then
    return prompt.say("nothing is chosen yet; d declines to answer")
  end
  prompt.answer(p, { answers = answers })
end

--- On to the first question without an answer.
local function advance(p)
  for i = 1, #p.params.questions do
    if not answered(p, i) then
      p.state.at = i
      return
    end
  end
end

local function choose(p, key)
  local i = current(p)
  local question, state, n = p.params.questions[i], chosen(p, i), tonumber(key)
  if not question.options[n] then
    return prompt.say("there is no option " .. key)
  end
  if question.multi_select then
    state.options[n] = not state.options[n] or nil
  else
    state.options, state.own = { [n] = true }, nil
    advance(p)
  end
  prompt.draw(p)
end

local function own_words(p)
  local i = current(p)
  local question, state = p.params.questions[i], chosen(p, i)
  vim.ui.input({ prompt = "Your answer: ", default = state.own or "" }, function(words)
    if words == nil or p.over then
      return
    end
    state.own = words ~= "" and words or nil
    if not question.multi_select and state.own then
      state.options = {}
      advance(p)
    end
    prompt.draw(p)
  end)
end

local function decline(p)
  prompt.answer(p, { declined = true })
end

---@type drawbridge.Form
M.form = {
  title = function(p)
    local many = #p.params.questions > 1
    return { { many and ("Claude asks %d questions"):format(#p.params.questions) or "Claude asks", "DrawbridgeWaiting" } }
  end,

  body = function(p, width)
    local rows = {}
    for i, question in ipairs(p.params.questions) do
      local here = i == current(p) and #p.params.questions > 1
      local head = ("%s[%s] %s"):format(here and "▶ " or "", text.visible(question.header), question.question)
      vim.list_extend(rows, prompt.rows(head, width, here and "DrawbridgeUser" or "DrawbridgePrompt"))
      for n, option in ipairs(question.options) do
        local on = chosen(p, i).options[n]
        local box = question.multi_select and (on and "[x]" or "[ ]") or (on and "(•)" or "( )")
        local line = ("%d %s %s"):format(n, box, option.label)
        if option.description ~= "" then
          line = line .. " – " .. option.description
        end
        for r, row in ipairs(prompt.rows(line, width - 6, on and "DrawbridgeOk" or "DrawbridgePrompt")) do
          table.insert(row, 1, { r == 1 and "  " or "        ", "DrawbridgePrompt" })
          rows[#rows + 1] = row
        end
      end
      local own = chosen(p, i).own
      if own then
        vim.list_extend(rows, prompt.rows("  o own words: " .. own, width, "DrawbridgeOk"))
      end
    end
    return rows
  end,

  keys = function(p)
    local question = p.params.questions[current(p)]
    local last = math.min(#question.options, 9)
    local keys = {}
    if last > 0 then
      keys[1] = { last > 1 and ("1-%d"):format(last) or "1", question.multi_select and "choose some" or "choose" }
    end
    keys[#keys + 1] = { "o", "own words" }
    if #p.params.questions > 1 then
      keys[#keys + 1] = { "c", "next question" }
    end
    vim.list_extend(keys, { { "a", "answer" }, { "d", "decline" } })
    return keys
  end,

  press = {
    a = send,
    d = decline,
    D = function(p)
      vim.ui.input({ prompt = "Tell Claude why you do not answer: " }, function(reason)
        if reason then
          prompt.answer(p, { declined = true, message = reason ~= "" and reason or nil })
        end
      end)
    end,
    o = own_words,
    c = function(p)
      p.state.at = current(p) % #p.params.questions + 1
      prompt.draw(p)
    end,
  },

  choices = function(p)
    local list = {
      {
        label = "Decline to answer",
        act = function()
          decline(p)
        end,
      },
    }
    local question = p.params.questions[current(p)]
    for n, option in ipairs(question.options) do
      list[#list + 1] = {
        label = text.visible(option.label),
        act = function()
          choose(p, tostring(n))
          if answered(p, #p.params.questions) and next(M.answers(p)) and vim.tbl_count(M.answers(p)) == #p.params.questions then
            return send(p)
          end
          prompt.select(p)
        end,
      }
    end
    return list
  end,
}

for n = 1, 9 do
  M.form.press[tostring(n)] = choose
end

return M
