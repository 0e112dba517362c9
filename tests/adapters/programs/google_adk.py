from google.adk import Agent, Runner
from google.adk.apps import App
from google.adk.models.llm_response import LlmResponse
from google.adk.sessions import InMemorySessionService
from google.genai.types import ModelContent, Part, UserContent

from interpose import Hooks, deny
from interpose.adapters.google_adk import plugin


def script(callback_context, llm_request):  # answers in the place of the model
    calls = [Part.from_function_call(name="shell", args={"cmd": cmd}) for cmd in ("ls", "rm -rf /")]
    return LlmResponse(content=ModelContent("done" if len(llm_request.contents) > 1 else calls))


def shell(cmd: str) -> str:
    return f"ran {cmd}"


hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [lambda e: deny("no rm") if "rm" in str(e.tool_input) else None]}})
agent = Agent(name="helper", model="gemini-3-pro", before_model_callback=script, tools=[shell])
app = App(name="tidy", root_agent=agent, plugins=[plugin(hooks)])
runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
for event in runner.run(user_id="me", session_id="1", new_message=UserContent("tidy up")):
    print(event.content.parts[0].text or [one.response for one in event.get_function_responses()])
