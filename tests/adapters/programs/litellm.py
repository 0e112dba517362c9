import os
from pathlib import Path

import litellm
from fastapi.testclient import TestClient
from litellm.proxy.proxy_server import app


class Model(litellm.CustomLLM):  # calls the tool, and says what it was told
    async def acompletion(self, *_, messages, **__):
        call = {"id": "1", "type": "function", "function": {"name": "deploy", "arguments": "{}"}}
        said = {"content": messages[-1]["content"]} if len(messages) > 1 else {"tool_calls": [call]}
        return litellm.ModelResponse(choices=[{"message": {"role": "assistant", **said}}])


Path("hooks.yaml").write_text("hooks: {PreToolUse: [{matcher: deploy, command: echo not today >&2; exit 2}]}")
Path("config.yaml").write_text("""
model_list: [{model_name: model, litellm_params: {model: script/model}}]
guardrails: [{guardrail_name: interpose, litellm_params: {guardrail: interpose.adapters.litellm.Guardrail,
              mode: [pre_call, post_call], default_on: true, hooks: hooks.yaml}}]""")
os.environ |= {"CONFIG_FILE_PATH": "config.yaml", "LITELLM_MASTER_KEY": (key := f"sk-{os.urandom(32).hex()}")}
litellm.custom_provider_map = [{"provider": "script", "custom_handler": Model()}]
with TestClient(app, headers={"Authorization": f"Bearer {key}"}) as client:
    answer = client.post("/chat/completions", json={"model": "model", "messages": [{"role": "user", "content": "go"}]})
    print(answer.json()["choices"][0]["message"]["content"])
