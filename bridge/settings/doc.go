// Package settings reads the user's settings file, says where each value in force comes from, and saves permission
// rules into that file.
//
// One table, keys.go, names every key with its shape, default and sentence. The reader, the flags, the options of
// `initialize`, the report of `drawbridge config`, the JSON Schema and the page docs/settings.md are all made from it.
//
//	drawbridge/settings.json ── Load ──▶ File ─┐
//	--flag text ─────────────── Flag ──▶ Value ─┼─ Resolve ──▶ Settings (value and Origin of each key)
//	initialize options ──────── Options ▶ Value ┘
//
// A later source overrides an earlier one, key by key. Nothing that is wrong is silent: each mistake is a [Problem] with
// file, line and column, and everything beside it still counts. Where a mistake may hide a deny or ask rule, the rules
// are marked [Rules.Incomplete], and whoever decides must not allow anything on their word.
//
// The project's own file, .drawbridge/settings.json, is written by whoever wrote the project. It may only forbid and
// ask, and is read by [LoadProject] alone.
package settings
