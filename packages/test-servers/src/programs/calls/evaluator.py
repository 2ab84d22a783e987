# Runs the Python that a call sends, and returns what its function `attempt` returns. For tests of what a sandboxed program can do.
import json
import os
import sys


def evaluate(code):
    world = {}
    try:
        exec(code, world)
        return str(world["attempt"]())
    except BaseException as error:
        return "failed: %s %s" % (type(error).__name__, error)


def send(message):
    os.write(1, (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())


for line in sys.stdin:
    request = json.loads(line)
    method, id = request.get("method"), request.get("id")
    if method == "initialize":
        info = {"name": "evaluator", "version": "1"}
        send({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
        send({"id": id, "result": {"tools": [{"name": "run", "inputSchema": schema}]}})
    elif method == "tools/call":
        text = evaluate(request["params"]["arguments"]["code"])
        send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
