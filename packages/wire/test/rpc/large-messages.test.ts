import { expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { openRpc } from "../../src/rpc/rpc.ts";
import { openStdio } from "../../src/stdio/stdio.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { script } from "../support/stdio-server.ts";

const megabyte = 1024 * 1024;
/** Answers a request with so many megabytes as it asks for; before that, sends as many unasked. */
const generous = `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    const text = (count) => "x".repeat(count * ${megabyte});
    if (method === "initialize") say({ id, result: { protocolVersion: "2025-11-25", capabilities: {} } });
    else if (method === "notifications/large") say({ method: "large", params: { text: text(params.megabytes) } });
    else if (params.late) say({ result: { text: text(params.megabytes) }, id });
    else if (id !== undefined) say({ id, result: { text: text(params.megabytes) } });
  });`;

test("a response over the limit of its request fails that request alone, with any order of its members", async () => {
  const session = await connect(script(generous), { clientInfo, era: "legacy" });
  for (const late of [false, true]) {
    const small = session.request("x", { megabytes: 1 });
    expect((await small)["text"]).toHaveLength(megabyte);
    const large = failure(session.request("x", { megabytes: 6, late }, { maxBytes: 5 * megabyte }));
    expect(await large).toMatchObject({
      code: "too_large",
      message: `the response to x is larger than ${5 * megabyte} bytes`,
      evidence: { step: "x" },
    });
  }
  expect((await session.request("x", { megabytes: 6 }))["text"]).toHaveLength(6 * megabyte);
  await session.close();
});

test("a response within the limits of the transport but not of its request is not delivered", async () => {
  const session = await connect(script(generous), { clientInfo, era: "legacy" });
  const sizes: number[] = [];
  const limited = session.request("x", { megabytes: 2 }, { maxBytes: megabyte, onSize: (size) => sizes.push(size) });
  expect(await failure(limited)).toMatchObject({ code: "too_large" });
  expect(sizes[0]).toBeGreaterThan(2 * megabyte);
  await session.close();
});

test("a large message that no request asks for is dropped", async () => {
  const heard: string[] = [];
  const diagnostics: string[] = [];
  const session = await connect(script(generous), {
    clientInfo,
    era: "legacy",
    onNotification: (method) => void heard.push(method),
    onDiagnostic: (text) => void diagnostics.push(text),
  });
  await session.notify("notifications/large", { megabytes: 1 });
  await session.notify("notifications/large", { megabytes: 5 });
  await session.request("x", { megabytes: 0 }, { maxBytes: megabyte });
  await session.close();
  expect(heard).toEqual(["large"]);
  expect(diagnostics).toEqual([
    `a message was dropped: it answers no request and is larger than ${4 * megabyte} bytes`,
  ]);
});

test("a message over the limit of all messages ends the connection", async () => {
  const limits = { ...defaultLimits, messageBytes: 2 * megabyte };
  const rpc = await openRpc(openStdio(script(generous), { limits, times: defaultTimes }), {
    limits,
    times: defaultTimes,
  });
  expect(await failure(rpc.request("x", { megabytes: 3 }))).toMatchObject({ code: "too_large" });
  expect(await rpc.closed).toMatchObject({ code: "too_large" });
  await rpc.close();
});
