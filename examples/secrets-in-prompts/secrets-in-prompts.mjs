#!/usr/bin/env node
// Deny a prompt that has a secret in it. The event is JSON on standard input; exit status 2 denies.
import { readFileSync } from "node:fs";

const secrets = {
  "AWS key": /\bA(KIA|SIA)[0-9A-Z]{16}/,
  "GitHub token": /\b(gh[oprsu]_[0-9A-Za-z]{36}|github_pat_\w{50})/,
  "GitLab token": /\bglpat-[\w-]{20}/,
  "npm token": /\bnpm_[0-9A-Za-z]{36}/,
  "PyPI token": /\bpypi-[\w-]{50}/,
  "Anthropic key": /\bsk-ant-[\w-]{24}/,
  "OpenAI key": /\bsk-([0-9A-Za-z]{32}|(admin|proj|svcacct)-[\w-]{32})/,
  "Stripe key": /\b[rs]k_live_[0-9A-Za-z]{24}/,
  "Slack token": /\bxox[abeprs]-[0-9A-Za-z-]{20}/,
  "Google key": /\bAIza[\w-]{35}/,
  "JSON web token": /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20}/,
  "private key": /-----BEGIN ([A-Z]+ )*PRIVATE KEY/,
};

const event = JSON.parse(readFileSync(0, "utf8"));
const found = Object.keys(secrets).find((kind) => secrets[kind].test(event.prompt));

if (found) {
  console.error(
    `This prompt has a secret in it (${found}), and was not sent. Take it out; if it has been sent before, replace it.`,
  );
  process.exit(2);
}
