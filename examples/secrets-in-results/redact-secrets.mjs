#!/usr/bin/env node
// Replace secrets in the result of a tool, or in its error, before the model sees it.
import { readFileSync } from "node:fs";

// Patterns of secrets, by kind. Use unmistakable patterns: text that is replaced by mistake is lost to the model.
const secrets = {
  "AWS key": /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g,
  "GitHub token": /\b(?:gh[oprsu]_[0-9A-Za-z]{36,}|github_pat_\w{50,})/g,
  "GitLab token": /\bglpat-[\w-]{20,}/g,
  "npm token": /\bnpm_[0-9A-Za-z]{36,}/g,
  "PyPI token": /\bpypi-[\w-]{50,}/g,
  "Anthropic key": /\bsk-ant-[\w-]{24,}/g,
  "OpenAI key": /\bsk-(?:[0-9A-Za-z]{32,}|(?:admin|proj|svcacct)-[\w-]{32,})/g,
  "Stripe key": /\b[rs]k_live_[0-9A-Za-z]{24,}/g,
  "Slack token": /\bxox[abeprs]-[0-9A-Za-z-]{20,}/g,
  "Google key": /\bAIza[\w-]{35,}/g,
  "JSON web token": /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/g,
  "private key": /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[^]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/g,
  password: /(?<=:\/\/)[^\s/:@]+:[^\s/:@]{4,}(?=@)/g,
};

const redact = (text) =>
  Object.entries(secrets).reduce((rest, [kind, shape]) => rest.replace(shape, `[${kind} removed]`), text);

// JavaScript rounds integers beyond 2^53. If your tools return such integers, use the Python hook.
const without = (value) => {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map(without);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), without(item)]));
};

const event = JSON.parse(readFileSync(0, "utf8"));
const name = event.hook_event_name === "PostToolUseFailure" ? "error" : "tool_response";
const redacted = without(event[name]);

if (JSON.stringify(redacted) !== JSON.stringify(event[name])) {
  console.log(JSON.stringify({ modify: { [name]: redacted } }));
}
