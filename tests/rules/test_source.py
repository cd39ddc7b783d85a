"""House rules that can be read off the source."""

import ast
import re

MAX_LINES = 400
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "base", "manager", "stuff", "tools_misc"}

# Text that comes from outside is never run, and nothing stored names the code that reads it (case A7).
RUNS_TEXT = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load"}
RUNS_DATA = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "joblib"}

# Doors to the network (case N3). `urllib.parse` opens none.
NETWORK = (
    "socket", "ssl", "socketserver", "http.client", "http.server", "urllib.request", "ftplib", "smtplib", "imaplib",
    "poplib", "telnetlib", "xmlrpc", "httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp",
    "websockets", "pycurl",
)  # fmt: skip
OPENS_SOCKETS = ("asyncio.open_connection", "asyncio.start_server", "anyio.connect_tcp", "anyio.create_tcp_listener")
GUARDED_CLIENT = "src/lumina/adapters/net/"

REGISTRIES = [
    name + end
    for name, end in [
        ("pypi", ".org"),
        ("pythonhosted", ".org"),
        ("npmjs", ".org"),
        ("npmjs", ".com"),
        ("deb.debian", ".org"),
    ]
]
MACHINE_PATH = re.compile(r"(?<![\w./:~-])/(?:home|root|tmp|work|Users|private|var/folders)/[\w.]")
LATER = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")


def test_a_module_has_at_most_400_lines(modules) -> None:
    long = [(module.place, lines) for module in modules if (lines := module.text.count("\n")) > MAX_LINES]
    assert long == []


def test_no_module_has_a_name_that_says_nothing(modules) -> None:
    empty = [module.place for module in modules if EMPTY_NAMES & set(module.path.stem.removeprefix("test_").split("_"))]
    empty += [module.place for module in modules if EMPTY_NAMES & set(module.path.parent.parts)]
    assert empty == []


def test_every_module_of_the_package_opens_with_its_idea(source) -> None:
    silent = [module.place for module in source if not ast.get_docstring(module.tree)]
    assert silent == []


def test_nothing_runs_text_or_loads_objects_from_data(source) -> None:
    found = [(m.place, call.lineno, name) for m in source for name, call in m.calls() if name in RUNS_TEXT]
    found += [(m.place, line, name) for m in source for name, line in m.imports() if name.split(".")[0] in RUNS_DATA]
    assert found == []


def test_a_module_is_imported_by_name_only_where_a_package_lists_its_own_names(source) -> None:
    """A package's `__getattr__` looks names up in its own literal table; anywhere else a name is a literal."""
    found = [
        (module.place, call.lineno)
        for module in source
        for name, call in module.calls()
        if name.rpartition(".")[2] in ("import_module", "load_module", "exec_module")
        and not (call.args and isinstance(call.args[0], ast.Constant))
        and module.path.name != "__init__.py"
    ]
    assert found == []


def test_N3_only_the_guarded_client_opens_a_connection(source) -> None:
    def is_door(name: str) -> bool:
        return any(name == door or name.startswith(door + ".") for door in NETWORK)

    found = {m.place for m in source for name, _ in m.imports() if is_door(name)}
    found |= {m.place for m in source for name, _ in m.calls() if name in OPENS_SOCKETS}
    assert {place for place in found if not place.startswith(GUARDED_CLIENT)} == set()
    assert f"{GUARDED_CLIENT}dialling.py" in found, "the rule looks for what nobody uses"


def test_nothing_is_put_off_by_a_note_in_the_text(files) -> None:
    found = [(place, match.group()) for place, text in files for match in LATER.finditer(text)]
    assert found == []


def test_no_file_names_a_package_registry(files) -> None:
    found = [(place, host) for place, text in files for host in REGISTRIES if host in text]
    assert found == []


def test_no_file_names_a_path_of_one_machine(files) -> None:
    found = [(place, match.group()) for place, text in files for match in MACHINE_PATH.finditer(text)]
    assert found == []


def test_no_test_sleeps(tests) -> None:
    """`sleep(0)` gives way to other tasks and waits for nothing."""
    found = [
        (module.place, call.lineno)
        for module in tests
        for name, call in module.calls()
        if name in ("time.sleep", "asyncio.sleep", "anyio.sleep", "trio.sleep")
        and not (isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]
    assert found == []
