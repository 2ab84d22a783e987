// One test server that fails does not end the process in which it runs with the servers of other tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../../packages/test-servers/src/programs/shared-host.mjs", import.meta.url));
const request = (method, params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const server = (name, ...args) => JSON.stringify({ program: name, args });
const steps = { name: "steps", arguments: { count: 1, gate: "/no/such/folder/gate" } };

test.each([
  ["a first line that is not JSON", "GET / HTTP/1.1"],
  ["a program that does not exist", server("none")],
  ["a server that cannot write when it starts", server("counted", "/no/such/folder/notes")],
  ["a server that fails later", `${server("workshop")}\n${request("tools/call", steps)}`],
])("the other servers survive %s", async (_name, input) => {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "pipe"] });
  const gone = once(child, "close");
  const reports = text(child.stderr);
  const [port] = await once(createInterface(child.stdout), "line");
  const ask = (lines) => text(connect(Number(port), "127.0.0.1").end(`${lines}\n`));
  expect(await ask(input)).toBe("");
  expect(JSON.parse(await ask(`${server("well-behaved")}\n${request("ping")}`))).toMatchObject({ id: 1, result: {} });
  child.stdin.end();
  expect((await gone)[0]).toBe(0);
  expect(await reports).toContain("a shared test server failed");
});
