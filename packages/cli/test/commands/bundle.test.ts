import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { readBundle, unpackBundle } from "@fairlead/registry/bundles/bundle";
import { programServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayBundle } from "../../src/commands/bundle.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { program, runProcess } from "../support/process.ts";

/** Starts the server of a bundle as Claude Desktop does, and returns its answers to the requests. */
async function answersOf(folder: string, env: Machine["env"], requests: readonly object[]): Promise<readonly object[]> {
  const child = spawn(process.execPath, [join(folder, "server/index.js")], { env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answers: object[] = [];
  for (const request of requests) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...request })}\n`);
    if (!("id" in request)) continue;
    for (;;) {
      const { value } = (await lines.next()) as { value: string };
      const message = JSON.parse(value) as { id?: number };
      if (message.id !== request.id) continue;
      answers.push(message);
      break;
    }
  }
  child.stdin.end();
  await ended;
  return answers;
}

const hello = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list", params: {} },
];

test("the bundle that it writes is read by Fairlead, and its server has all servers", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { well: programServer("well-behaved") }, fairlead: { background: "off" } },
  });
  const written = await runProcess(here, "bundle", "--json");
  expect(written).toMatchObject({ code: 0 });
  const { file, sha256 } = JSON.parse(written.stdout) as { file: string; sha256: string };
  expect(file).toBe(join(here.project, "fairlead.mcpb"));
  const bundle = readBundle(await readFile(file), sha256);
  expect(bundle.manifest).toMatchObject({ manifestVersion: "0.3", name: "fairlead", kind: "node", inputs: [] });
  const folder = await unpackBundle(bundle, join(here.path, "state"));
  const answers = await answersOf(folder, here.env, hello);
  expect(answers).toMatchObject([
    { result: { serverInfo: { name: expect.stringMatching(/fairlead/i) } } },
    { result: { tools: expect.arrayContaining([expect.objectContaining({ name: expect.any(String) })]) } },
  ]);
  expect(await runProcess(here, "daemon", "stop")).toMatchObject({ code: 0 });

  const again = await runProcess(here, "bundle", "-o", "again.mcpb");
  expect(again).toMatchObject({ code: 0 });
  expect(await readFile(join(here.project, "again.mcpb"))).toEqual(await readFile(file));
  expect(await runProcess(here, "bundle")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the file exists"),
  });
});

test("on a machine without Fairlead, its server says what to install", async () => {
  await using here = await machine();
  const start = { command: "/nowhere/node", args: ["/nowhere/fairlead.cjs", "serve"], env: {} };
  const folder = await unpackBundle(readBundle(gatewayBundle(start, "1.0.0")), join(here.path, "state"));
  const [answer] = await answersOf(folder, { PATH: "/nowhere" }, hello.slice(0, 1));
  expect(answer).toMatchObject({ error: { message: expect.stringContaining("npm install -g fairlead") } });
});

test("the same command and version give the same bytes", () => {
  const start = { command: process.execPath, args: [program, "serve"], env: {} };
  expect(gatewayBundle(start, "1.0.0").equals(gatewayBundle(start, "1.0.0"))).toBe(true);
});
