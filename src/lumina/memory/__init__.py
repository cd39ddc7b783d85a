"""The memory: values and rules of a conversation. Standard library and pydantic only; no input or output."""
