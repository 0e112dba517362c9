"""Settings files as people have them, by format: kept for tests of attaching."""

OTHERS = '{"hooks": [{"type": "command", "command": "theirs.sh"}]}'

JSON = {
    "empty": "",
    "blank lines": "\n\n",
    "no members": "{}",
    "no members, spaced": "{ }\n",
    "no members, on lines": "{\n\n}\n",
    "one line": '{"model": "opus", "permissions": {"allow": []}}',
    "compact": '{"model":"opus","hooks":{"PreToolUse":[' + OTHERS.replace(": ", ":") + "]}}",
    "two spaces": '{\n  "model": "opus"\n}\n',
    "four spaces": '{\n    "model": "opus",\n    "env": {\n        "A": "1"\n    }\n}\n',
    "tabs": '{\n\t"model": "opus",\n\t"hooks": {}\n}\n',
    "odd indentation": '{\n "model": "opus",\n      "hooks": {\n   "PreToolUse": [\n         ' + OTHERS + "\n]\n}\n}",
    "no newline at the end": '{\n  "model": "opus"\n}',
    "CRLF": '{\r\n  "model": "opus",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    "mixed line ends": '{\r\n  "model": "opus",\n  "env": {}\r\n}\n',
    "BOM": '\ufeff{\n  "model": "opus"\n}\n',
    "hooks of others": '{\n  "hooks": {\n    "PreToolUse": [\n      ' + OTHERS + ",\n      " + OTHERS + "\n    ],\n"
    '    "Stop": [' + OTHERS + "]\n  }\n}\n",
    "hooks of others first": '{\n  "hooks": {\n    "PreToolUse": [' + OTHERS + ']\n  },\n  "model": "opus"\n}\n',
    "empty lists": '{\n  "hooks": {\n    "PreToolUse": [],\n    "Stop": [ ]\n  }\n}\n',
    "keys twice": '{"hooks": {"Stop": [' + OTHERS + ']}, "hooks": {"PreToolUse": []}}',
    "escapes": '{\n  "\\u0068ooks": {},\n  "say": "\\"// not a comment\\" /* neither */ \\\\"\n}\n',
    "letters": '{\n  "größe": "日本語 😀 \\ud83d\\ude00",\n  "n": [1, -2.5e+3, true, null]\n}\n',
    "deep": '{"a": ' + "[" * 60 + "]" * 60 + "}",
}

JSONC = {
    "comments": '// mine\n{\n  // the model\n  "model": "opus", // best\n  /* hooks */\n  "hooks": {\n    "PreToolUse": [\n'
    "      // first\n      " + OTHERS + " // last\n      // end\n    ]\n  }\n}\n// bye\n",
    "trailing commas": '{\n  "model": "opus",\n  "hooks": {\n    "PreToolUse": [\n      '
    + OTHERS
    + ",\n    ],\n  },\n}\n",
    "both": '{\n  "hooks": {\n    "Stop": [\n      ' + OTHERS + ", // theirs\n    ],\n  }, // hooks\n}\n",
    "a comment alone": "// nothing yet\n",
    "a comment in an empty list": '{\n  "hooks": {\n    "Stop": [\n      // none\n    ]\n  }\n}\n',
    "CRLF comments": '{\r\n  // one\r\n  "hooks": {},\r\n}\r\n',
}

BROKEN = {
    "not closed": '{"hooks": {',
    "no value": '{"hooks": }',
    "no comma": '{"a": 1 "b": 2}',
    "single quotes": "{'a': 1}",
    "two documents": "{} {}",
    "bad escape": '{"a": "\\x"}',
    "line break in text": '{"a": "b\nc"}',
    "a word": "hooks",
    "nested too deep": '{"a": ' + "[" * 300 + "]" * 300 + "}",
}

WRONG = {
    "a list": "[]",
    "a text": '"hooks"',
    "hooks is a list": '{"hooks": []}',
    "an event is an object": '{"hooks": {"PreToolUse": {}}}',
}

TOML = {
    "empty": "",
    "plain": 'model = "k2"\n',
    "no newline at the end": 'model = "k2"',
    "CRLF": 'model = "k2"\r\n[providers.x]\r\nkey = "y"\r\n',
    "BOM": '\ufeffmodel = "k2"\n',
    "comments": '# mine\nmodel = "k2" # best\n\n[a]\n# in a\n',
    "hooks of others": '[[hooks]]\nevent = "Stop"\ncommand = "theirs.sh"\n',
    "blank lines at the end": 'model = "k2"\n\n\n',
}

YAML = {
    "empty": "",
    "plain": "model: x\n",
    "no newline at the end": "model: x",
    "comments": "# mine\nmodel: x # best\n\n# end\n",
    "hooks of others": "hooks:\n  pre_tool_call:\n    - command: theirs.sh # theirs\n      timeout: 3\n# end\nmodel: x\n",
    "not indented lists": "hooks:\n  pre_tool_call:\n  - command: theirs.sh\n\nmodel: x\n",
    "empty hooks": "hooks:\nmodel: x\n",
    "hooks in braces, empty": "hooks: {}\nmodel: x\n",
    "block texts": "hooks:\n  on_session_end:\n    - command: |\n        one\n        two\n\nmodel: x\n",
    "CRLF": "model: x\r\nhooks:\r\n  pre_tool_call:\r\n    - command: theirs.sh\r\n",
}
