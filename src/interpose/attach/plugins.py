"""The plugins of agents that have hooks in their own language only: opencode and Amp.

A plugin starts the line of an event as a shell would, with the event as JSON, and does what the answer says. A line
that fails prints a deny itself; whatever else goes wrong in the plugin throws, which denies too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from .entry import SettingsEntry

__all__ = ["amp_plugin", "opencode_plugin"]

_HEAD = """\
// Written by `interpose attach`, taken away by `interpose detach`. It asks Interpose before and after each tool call.
import { spawnSync } from "node:child_process";

const LINES = %(lines)s;
const DEADLINES = %(deadlines)s;

const ask = (name, payload) => {
  const line = LINES[name];
  const ended = spawnSync("/bin/sh", ["-c", line], {
    input: JSON.stringify({ hook_event_name: name, ...payload }),
    encoding: "utf8",
    timeout: DEADLINES[name] * 1000,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (ended.error || ended.status !== 0) {
    const why = `Interpose could not decide: ${ended.error || ended.signal || ended.status}`;
    throw new Error((ended.stderr || "").trim() || why);
  }
  return ended.stdout.trim() ? JSON.parse(ended.stdout) : {};
};
"""

_OPENCODE = """
const pending = new Map();
const later = (session, text) => text && pending.set(session, [...(pending.get(session) || []), text]);
const taken = (session) => {
  const texts = pending.get(session) || [];
  pending.delete(session);
  return texts;
};

export const Interpose = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const said = ask("tool.execute.before", {
      session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_input: output.args,
      tool_use_id: input.callID,
    });
    const own = said.hookSpecificOutput || {};
    if (own.permissionDecision === "deny" || own.permissionDecision === "ask") {
      throw new Error(own.permissionDecisionReason || "denied by Interpose");
    }
    if (own.updatedInput) {
      for (const key of Object.keys(output.args)) delete output.args[key];
      Object.assign(output.args, own.updatedInput);
    }
    later(input.sessionID, own.additionalContext);
  },
  "tool.execute.after": async (input, output) => {
    const said = ask("tool.execute.after", {
      session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_input: input.args,
      tool_response: output.output, tool_use_id: input.callID,
    });
    const own = said.hookSpecificOutput || {};
    if (own.updatedToolOutput !== undefined) output.output = own.updatedToolOutput;
    const texts = [...taken(input.sessionID), own.additionalContext].filter(Boolean);
    for (const text of texts) output.output += `\\n${text}`;
  },
  "chat.message": async (input, output) => {
    const texts = output.parts.filter((part) => part.type === "text");
    const said = ask("chat.message", {
      session_id: input.sessionID, cwd: directory, prompt: texts.map((part) => part.text).join("\\n"),
    });
    if (said.decision === "block") throw new Error(said.reason || "refused by Interpose");
    const text = (said.hookSpecificOutput || {}).additionalContext;
    if (text && texts.length) texts[0].text += `\\n${text}`;
  },
});
"""

_AMP = """
const about = (event) => ({
  session_id: event.thread?.id, cwd: process.cwd(), tool_name: event.tool, tool_input: event.input,
  tool_use_id: event.toolUseID, tool_response: event.output, prompt: event.message,
});

export default (amp) => {
  amp.on("tool.call", async (event, context) => {
    try {
      const own = ask("tool.call", about(event)).hookSpecificOutput || {};
      const reason = own.permissionDecisionReason || "denied by Interpose";
      if (own.permissionDecision === "ask" && (await context?.ui?.confirm?.({ title: "Interpose", message: reason }))) {
        return { action: "allow" };
      }
      if (own.permissionDecision) return { action: "reject-and-continue", message: reason };
      return { action: "allow" };
    } catch (error) {
      return { action: "reject-and-continue", message: error.message };
    }
  });
  amp.on("tool.result", async (event) => {
    const failed = (error) => ({ hookSpecificOutput: { updatedToolOutput: error.message } });
    let said;
    try {
      said = ask("tool.result", about(event));
    } catch (error) {
      said = failed(error);
    }
    const text = (said.hookSpecificOutput || {}).updatedToolOutput;
    return text === undefined ? undefined : { output: text };
  });
  amp.on("agent.start", async (event) => {
    try {
      const text = (ask("agent.start", about(event)).hookSpecificOutput || {}).additionalContext;
      return text ? { message: { content: text } } : undefined;
    } catch (error) {
      console.error(`interpose: ${error.message}`);
      return undefined;
    }
  });
};
"""


def _head(entries: Sequence[SettingsEntry]) -> str:
    lines = json.dumps({entry.name: entry.command for entry in entries}, indent=2, ensure_ascii=False)
    deadlines = json.dumps({entry.name: entry.timeout for entry in entries})
    return _HEAD % {"lines": lines, "deadlines": deadlines}


def opencode_plugin(entries: Sequence[SettingsEntry]) -> str:
    """Return the plugin for opencode."""
    return _head(entries) + _OPENCODE


def amp_plugin(entries: Sequence[SettingsEntry]) -> str:
    """Return the plugin for Amp."""
    return _head(entries) + _AMP
