#!/usr/bin/env node
// Replace customer numbers in the result of a tool, or in its error, before the model sees it.
import { readFileSync } from "node:fs";

const pattern = /\bC-\d{6}\b/g;

// JavaScript rounds integers beyond 2^53. If your tools return such integers, use the Python hook.
const without = (value) => {
  if (typeof value === "string") return value.replace(pattern, "[customer]");
  if (Array.isArray(value)) return value.map(without);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [without(key), without(item)]));
};

const event = JSON.parse(readFileSync(0, "utf8"));
const name = event.hook_event_name === "PostToolUseFailure" ? "error" : "tool_response";
const redacted = without(event[name]);

if (JSON.stringify(redacted) !== JSON.stringify(event[name])) {
  console.log(JSON.stringify({ modify: { [name]: redacted } }));
}
