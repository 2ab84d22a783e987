import { expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { clientInfo } from "../support/modern-session.ts";
import { script } from "../support/stdio-server.ts";

const stormy = `
  const say = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n";
  const storm = say({ method: "notifications/tools/list_changed" }).repeat(10_000);
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize")
      process.stdout.write(say({ id, result: { protocolVersion: "2025-11-25", capabilities: {} } }));
    else if (id !== undefined) process.stdout.write(storm + say({ id, result: { content: [] } }) + storm);
  });`;

test("20 000 list changes from a real process are a handful of news, and the call in their midst is answered", async () => {
  const heard: string[] = [];
  const session = await connect(script(stormy), {
    clientInfo,
    era: "legacy",
    onNotification: (method) => void heard.push(method),
  });
  expect(await session.request("tools/call", { name: "a" })).toEqual({ content: [] });
  expect(heard.length).toBeGreaterThan(0);
  // The second answer proves that the whole first storm has been read.
  await session.request("tools/call", { name: "b" });
  await session.close();
  expect(heard.length).toBeLessThan(200);
});
