"""CASES I7: nothing that a page says can make anything happen, because no tool of a turn acts on the world."""

import ast

# What a tool may do: show a plan, ask a search, read a page, open what is stored, look back. Another one is a decision
# of its own.
READING = {"plan", "web_search", "read_page", "open_source", "look_back"}


def tools(source) -> list[tuple[str, ast.Call]]:
    """Every `Tool(...)` that the package makes."""
    return [
        (module.place, node)
        for module in source
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Tool"
    ]


def test_I7_every_tool_that_is_made_reads_and_says_so_in_plain_letters(source) -> None:
    made = tools(source)
    assert len(made) >= 3
    for place, call in made:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        assert isinstance(given["name"], ast.Constant), place
        assert given["name"].value in READING, place
        assert isinstance(given["side_effect"], ast.Constant), place
        assert given["side_effect"].value is False, place


def test_I7_no_vendors_own_tools_are_offered_to_a_model(source) -> None:
    """A provider's built-in tools (its own search, code, files) would run outside of Lumina's guard and receipt."""
    named = [
        (module.place, name)
        for module in source
        for name, _ in module.imports()
        if name.startswith(("pydantic_ai.builtin_tools", "pydantic_ai.native_tools", "pydantic_ai.mcp"))
    ]
    assert named == []
    words = [m.place for m in source if "builtin_tools=" in m.text or "native_tools=" in m.text]
    assert words == []
