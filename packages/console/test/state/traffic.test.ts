import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@fairlead/core/clock";
import { createPlayer, readRecording } from "@fairlead/core/recordings";
import { stdioServer } from "@fairlead/test-servers";
import { WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { consoleScene, ofType } from "./scene.ts";

test("messages arrive as heads, linked to the request, the response and the call, and their bodies on demand", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.run("calls/tool", { call: "c-1", server: "good", tool: "echo", args: { text: "hello" } });
  await scene.event(ofType("call", ({ call }) => call.id === "c-1" && call.state === "ok"));
  await scene.event(
    ofType("frames", ({ frames }) => frames.some(({ kind, call }) => kind === "response" && call === "c-1")),
  );
  const { frames, oldest } = await scene.run("traffic/list", {});
  expect(oldest).toBe(1);
  const asked = frames.find(({ method, kind }) => method === "tools/call" && kind === "request");
  const answer = frames.find(({ answers }) => answers === asked?.id);
  expect(asked).toMatchObject({ server: "good", direction: "out", call: "c-1" });
  expect(answer).toMatchObject({
    server: "good",
    direction: "in",
    kind: "response",
    method: "tools/call",
    call: "c-1",
  });
  expect(answer?.took).toBeGreaterThanOrEqual(0);
  const { text = "" } = await scene.run("traffic/body", { id: asked?.id ?? 0 });
  expect(JSON.parse(text)).toMatchObject({
    method: "tools/call",
    params: { name: "echo", arguments: { text: "hello" } },
  });
  expect(text.length).toBeLessThanOrEqual(asked?.bytes ?? 0);
  expect(await scene.run("traffic/body", { id: 999_999 })).toEqual({});
});

test("a connection that is open before the console is seen too, and its recording can be played", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  // A console that was opened later.
  await scene.host.start({ servers: ["good"] });
  const { ConsoleState } = await import("../../src/server/state/console-state.ts");
  await using late = new ConsoleState({ host: scene.host, version: "1.2.3", inbox: scene.inbox });
  const { signal } = new AbortController();
  const options = { signal };
  await scene.host.call("good", "echo", { text: "hello" });
  const { text } = await late.run("traffic/export", { server: "good" }, options);
  const file = join(scene.folder, "good.jsonl");
  await writeFile(file, text);
  const player = createPlayer(await readRecording(file), {
    clock: systemClock,
    createError: (code, message, evidence) => new WireError(code, message, evidence),
  });
  expect(player.eras).toContain("legacy");
  expect(player.schemaOf("echo")).toMatchObject({ type: "object" });
});

test("the ring keeps the latest messages within its limits", async () => {
  await using scene = await consoleScene({
    servers: { good: stdioServer("well-behaved") },
    state: { traffic: { bytes: 6000, frames: 20 } },
  });
  for (let at = 0; at < 30; at += 1) await scene.host.call("good", "echo", { text: "x".repeat(200) });
  const { frames } = await scene.run("traffic/list", {});
  expect(frames.length).toBeLessThanOrEqual(20);
  expect(frames.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(6000);
  expect(frames.at(-1)).toMatchObject({ kind: "response", method: "tools/call" });
});
