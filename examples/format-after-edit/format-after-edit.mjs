#!/usr/bin/env node
// Format a file that was just written, and tell the model if the formatter changed it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, extname, join, resolve, sep } from "node:path";

const prettier = ["prettier", "--write"];
const formatters = {
  ".py": ["ruff", "format"],
  ".go": ["gofmt", "-w"],
  ".rs": ["rustfmt"],
  ".sh": ["shfmt", "-w"],
  ".tf": ["terraform", "fmt"],
  ...Object.fromEntries(["css", "html", "js", "json", "jsx", "md", "ts", "tsx", "yaml"].map((end) => [`.${end}`, prettier])),
};
// Directories with the project's own programs; they come before PATH.
const places = [".venv/bin", "node_modules/.bin"];

const event = JSON.parse(readFileSync(0, "utf8"));
const project = realpathSync(event.cwd);
const named = resolve(project, event.tool_input.file_path);
const file = existsSync(named) ? realpathSync(named) : "";
const [program, ...options] = formatters[extname(file).toLowerCase()] ?? [];

const say = (text) =>
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event.hook_event_name, additionalContext: text } }));

if (program && file.startsWith(project + sep)) {
  const before = readFileSync(file);
  const PATH = [...places.map((place) => join(project, place)), process.env.PATH].join(delimiter);
  const done = spawnSync(program, [...options, file], { cwd: project, env: { ...process.env, PATH }, encoding: "utf8" });
  const name = basename(file);
  if (done.error && done.error.code !== "ENOENT") throw done.error; // ENOENT: the formatter is not installed
  if (done.status > 0) say(`${program} cannot format ${name}: ${(done.stderr || done.stdout).trim().slice(-500)}`);
  else if (!done.error && !readFileSync(file).equals(before))
    say(`${name} was formatted by ${program} after you wrote it: read it before you edit it again.`);
}
