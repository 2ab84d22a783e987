import { type ErrorCode, HostError } from "@fairlead/core/errors";
import { WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { rpcError, serverReply, toRpcError } from "../../src/bridge/rpc-error.ts";

test.each<[ErrorCode, number]>([
  ["tool_unknown", -32602],
  ["server_unknown", -32602],
  ["arguments_invalid", -32602],
  ["usage", -32602],
  ["denied", -32010],
  ["changed", -32010],
  ["awaiting_approval", -32010],
  ["untrusted_folder", -32010],
  ["call_timeout", -32603],
])("a client gets the host's error %s with the code %i", (code, number) => {
  const { code: kind, message, evidence } = toRpcError(new HostError(code, "no"));
  expect({ kind, message, rpc: evidence.rpc }).toEqual({
    kind: "rpc",
    message: "no",
    rpc: { code: number, data: { reason: code } },
  });
});

test("the error names the server and the next step, if the host names them", () => {
  const error = new HostError("denied", "no", { serverName: "files", next: "fairlead doctor" });
  expect(toRpcError(error).evidence.rpc?.data).toEqual({ reason: "denied", server: "files", next: "fairlead doctor" });
});

test("any other error has only its message", () => {
  expect(toRpcError(new Error("broken")).message).toBe("broken");
  expect(toRpcError(new Error("broken")).evidence.rpc).toEqual({ code: -32603 });
});

test("a server's own error is passed on unchanged, however deep it is", () => {
  const own = rpcError(7, "own", { a: 1 });
  const wrapped = new HostError("denied", "outer", { cause: new Error("middle", { cause: own }) });
  expect(serverReply(own)).toBe(own);
  expect(toRpcError(wrapped)).toBe(own);
  expect(own.evidence.rpc).toEqual({ code: 7, data: { a: 1 } });
  expect(serverReply(new WireError("closed", "gone"))).toBeUndefined();
  expect(serverReply("text")).toBeUndefined();
});
