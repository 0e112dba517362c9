#!/usr/bin/env node
// Format a file that was just written, and tell the model if the formatter changed it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, extname, resolve, sep } from "node:path";

const formatters = { ".py": ["ruff", "format"], ".go": ["gofmt", "-w"], ".ts": ["prettier", "--write"] };

const event = JSON.parse(readFileSync(0, "utf8"));
const project = realpathSync(event.cwd);
const named = resolve(project, event.tool_input.file_path);
const file = existsSync(named) ? realpathSync(named) : "";
const [program, ...options] = formatters[extname(file)] ?? [];

const say = (text) =>
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event.hook_event_name, additionalContext: text } }));

if (program && file.startsWith(project + sep)) {
  const before = readFileSync(file);
  const done = spawnSync(program, [...options, file], { cwd: project, encoding: "utf8" });
  if (done.error && done.error.code !== "ENOENT") throw done.error; // ENOENT: the formatter is not installed
  if (done.status > 0) say(`${program} cannot format ${basename(file)}: ${done.stderr.trim().slice(-500)}`);
  else if (!done.error && !readFileSync(file).equals(before))
    say(`${basename(file)} was formatted by ${program} after you wrote it: read it before you edit it again.`);
}
