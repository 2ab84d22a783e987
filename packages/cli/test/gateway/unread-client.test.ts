import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { scaled, stdioServer } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { gatewayMachine } from "../support/gateway-client.ts";
import { program } from "../support/process.ts";

const megabyte = 1_000_000;

/** The memory that a process uses, or the most that it has used, in megabytes. 0 where the system does not tell. */
function memoryOf(pid: number, which: "VmRSS" | "VmHWM"): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, kilobytes = "0"] = new RegExp(`^${which}:\\s+(\\d+)`, "m").exec(status) ?? [];
  return Number(kilobytes) / 1024;
}

const size = 4;
const count = scaled(250, 80);

it("a client that reads none of its results of 4 MB costs the host at most 256 MB, and other clients go on", async () => {
  const own = { ...stdioServer("large-result"), share: "all" };
  await using here = await gatewayMachine({ big: own, small: own });
  const other = await here.client();
  const call = (name: string, bytes: number) => other.call(name, { size: bytes });
  expect(await call("write", 10)).toHaveProperty("result.content");
  expect(await call("small__write", 10)).toHaveProperty("result.content");
  const pid = (await here.hostPid()) ?? 0;
  const start = memoryOf(pid, "VmRSS");

  const silent = spawn(process.execPath, [program, "serve"], {
    cwd: here.project,
    env: here.env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  silent.stdin.on("error", () => {});
  const initialize = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "silent", version: "1" } },
  };
  silent.stdin.write(`${JSON.stringify(initialize)}\n`);
  for (let id = 1; id <= count; id += 1) {
    const params = { name: "write", arguments: { size: size * megabyte } };
    silent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
  }
  // The server answers in order, so each of these calls waits for those of the silent client that it already has.
  for (let round = 0; round < scaled(20, 6); round += 1) {
    expect(await call("write", 10)).toHaveProperty("result.content");
    expect(await call("small__write", 10)).toHaveProperty("result.content");
  }
  expect(memoryOf(pid, "VmHWM") - start).toBeLessThan(256);

  const ended = once(silent, "exit");
  silent.kill("SIGKILL");
  await ended;
  // The server still sends the results of the client that is gone.
  expect(await call("write", 20 * megabyte)).toHaveProperty("result.content");
});
