"""Refusals in the shapes that the vendors send them: status, headers and body.

OpenAI: its API reference and the bodies quoted in its SDK's issues. Anthropic: its page on errors. Ollama: server and
openai packages of its source (`middleware/openai.go` wraps the native message). Google: google.rpc.Status as JSON.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

Reason = Literal["rate", "quota", "key", "no model", "server", "overloaded", "too long", "no tools", "bad request"]

STATUS: dict[str, dict[Reason, int]] = {
    "openai": {"rate": 429, "quota": 429, "key": 401, "no model": 404, "server": 500, "overloaded": 503,
               "too long": 400, "no tools": 400, "bad request": 400},
    "anthropic": {"rate": 429, "quota": 400, "key": 401, "no model": 404, "server": 500, "overloaded": 529,
                  "too long": 400, "no tools": 400, "bad request": 400},
    "ollama": {"rate": 429, "quota": 429, "key": 401, "no model": 404, "server": 500, "overloaded": 503,
               "too long": 400, "no tools": 400, "bad request": 400},
    "google": {"rate": 429, "quota": 429, "key": 400, "no model": 404, "server": 500, "overloaded": 503,
               "too long": 400, "no tools": 400, "bad request": 400},
}  # fmt: skip
KEY = "sk-test-1234567890"  # stands in what a vendor says; must be shown to nobody

OPENAI: dict[Reason, tuple[str, str, str | None]] = {
    "rate": ("Rate limit reached for requests. Please try again in 1s.", "requests", "rate_limit_exceeded"),
    "quota": ("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota",
              "insufficient_quota"),
    "key": (f"Incorrect API key provided: {KEY}. You can find your API key in your account.",
            "invalid_request_error", "invalid_api_key"),
    "no model": ("The model `gpt-none` does not exist or you do not have access to it.", "invalid_request_error",
                 "model_not_found"),
    "server": ("The server had an error while processing your request. Sorry about that!", "server_error", None),
    "overloaded": ("The engine is currently overloaded, please try again later.", "service_unavailable", None),
    "too long": ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
                 " Please reduce the length of the messages.", "invalid_request_error", "context_length_exceeded"),
    "no tools": ("This model does not support tools.", "invalid_request_error", None),
    "bad request": ("Invalid value for 'messages'.", "invalid_request_error", "invalid_value"),
}  # fmt: skip
ANTHROPIC: dict[Reason, tuple[str, str]] = {
    "rate": ("rate_limit_error", "This request would exceed your organization's rate limit."),
    "quota": ("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "key": ("authentication_error", "invalid x-api-key"),
    "no model": ("not_found_error", "model: claude-none"),
    "server": ("api_error", "Internal server error"),
    "overloaded": ("overloaded_error", "Overloaded"),
    "too long": ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "no tools": ("invalid_request_error", "tools: this model does not support tools"),
    "bad request": ("invalid_request_error", "messages: at least one message is required"),
}
OLLAMA: dict[Reason, str] = {
    "rate": "too many requests",
    "quota": "usage limit reached",
    "key": "unauthorized",
    "no model": 'model "none" not found, try pulling it first',
    "server": "llama runner process has terminated: exit status 2",
    "overloaded": "server busy, please try again.  maximum pending requests exceeded",
    "too long": "input length exceeds the context length",
    "no tools": "registry.ollama.ai/library/gemma2:2b does not support tools",
    "bad request": "invalid message content type",
}
GOOGLE: dict[Reason, tuple[str, str]] = {
    "rate": ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "quota": ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    "key": ("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "no model": ("NOT_FOUND", "models/gemini-none is not found for API version v1beta."),
    "server": ("INTERNAL", "An internal error has occurred."),
    "overloaded": ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    "too long": ("INVALID_ARGUMENT", "The input token count (1100000) exceeds the maximum number of tokens allowed."),
    "no tools": ("INVALID_ARGUMENT", "Function calling is not enabled for this model"),
    "bad request": ("INVALID_ARGUMENT", "Request contains an invalid argument."),
}


@dataclass(frozen=True)
class Refuse:
    """The provider refuses. `after` is its Retry-After header, as it stands on the wire; `body` another body."""

    reason: Reason
    after: str = ""
    body: bytes | None = None
    status: int = 0

    def sent(self, form: str) -> tuple[int, dict[str, str], bytes]:
        vendor = "ollama" if form == "native" else form
        status = self.status or STATUS[vendor][self.reason]
        headers = {"content-type": "application/json"} | ({"retry-after": self.after} if self.after else {})
        if self.body is not None:
            return status, headers | {"content-type": "text/html; charset=utf-8"}, self.body
        return status, headers, json.dumps(_body(form, self.reason, status)).encode()


def _body(form: str, reason: Reason, status: int) -> Any:
    if form == "anthropic":
        kind, said = ANTHROPIC[reason]
        return {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_011"}
    if form == "native":
        return {"error": OLLAMA[reason]}
    if form == "ollama":
        kind = {401: "authentication_error", 404: "not_found_error", 400: "invalid_request_error"}.get(status)
        return {"error": {"message": OLLAMA[reason], "type": kind or "api_error", "param": None, "code": None}}
    if form == "google":
        name, said = GOOGLE[reason]
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com"}] if reason == "key" else []  # fmt: skip
        return {"error": {"code": status, "message": said, "status": name, "details": details}}
    said, kind, code = OPENAI[reason]
    return {"error": {"message": said, "type": kind, "param": None, "code": code}}
