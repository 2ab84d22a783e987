import { systemClock } from "@fairlead/core/clock";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsoleEvent } from "../../src/protocol/events.ts";
import { ViewFrames } from "../../src/server/views/view-frames.ts";
import { type ConsoleScene, consoleScene, ofType, type SceneOptions } from "../state/scene.ts";

const allowTools = '[[rule]]\ntoolName = "show"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n';

interface ViewScene extends AsyncDisposable {
  readonly scene: ConsoleScene;
  /** What the server's view is from now on. */
  change(content: object): Promise<void>;
  /** Calls the tool with the view, with this id. */
  call(id: string): Promise<void>;
  /** Shows the view of the call that `read` has read. Returns the id of the shown view. */
  show(read: string): Promise<string>;
}

async function viewScene(folder: TemporaryFolder, options: Partial<SceneOptions> = {}): Promise<ViewScene> {
  const change = async (content: object): Promise<void> => void (await folder.write("view.json", content));
  await change({ html: "<p>view</p>" });
  const servers = {
    own: stdioServer("views", "modern", `${folder.path}/view.json`, "own"),
    other: stdioServer("well-behaved"),
  };
  const scene = await consoleScene({ servers, rules: allowTools, ...options });
  await scene.host.start({ servers: ["own", "other"] });
  const frames = await ViewFrames.listen(systemClock);
  frames.showIn("http://127.0.0.1:7");
  const session = new AbortController();
  return {
    scene,
    change,
    async call(id) {
      await scene.run("calls/tool", { call: id, server: "own", tool: "show", args: {} });
      await ended(scene, id);
    },
    async show(read) {
      const { view } = await scene.state.run("views/show", { call: read }, { signal: session.signal, frames });
      return view;
    },
    async [Symbol.asyncDispose]() {
      session.abort();
      await frames.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

const hasEnded = (id: string) => ofType("call", ({ call }) => call.id === id && call.endedAt !== undefined);
const ended = (scene: ConsoleScene, id: string): Promise<ConsoleEvent> => scene.event(hasEnded(id));

test("a view is described as soon as its request has ended, also while the yes to a changed one is still being stored", async () => {
  await using folder = await temporaryFolder();
  await using here = await viewScene(folder);
  const { scene } = here;
  await here.call("c");
  await scene.run("views/read", { call: "r1", of: "c" });
  await ended(scene, "r1");
  expect(await scene.run("views/describe", { call: "r1" })).toMatchObject({ needsYes: true, isChanged: false });
  await here.show("r1");
  await here.change({ html: "<p>other</p>" });
  const described = new Promise<unknown>((resolve) => {
    // In the moment of the event, nothing else has run yet.
    scene.state.onEvent((event) => hasEnded("r2")(event) && resolve(scene.run("views/describe", { call: "r2" })));
  });
  await scene.run("views/read", { call: "r2", of: "c" });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({ from: "the view of own", request: "resource", change: expect.anything() });
  await scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
  expect(await described).toMatchObject({ needsYes: false });
});

test.each([
  ['its MIME type is "text/html"', { mimeType: "text/html" }],
  ["it is empty", { html: "" }],
  ["it is too large", { html: "x".repeat(1024), times: 16 * 1024 + 1 }],
  ["it is empty", { html: { blob: "" } }],
])("what is no view is told as such: %s", async (why, content) => {
  await using folder = await temporaryFolder();
  await using here = await viewScene(folder);
  const { scene } = here;
  await here.call("c");
  await here.change(content);
  await scene.run("views/read", { call: "r", of: "c" });
  await ended(scene, "r");
  const { message } = await scene.run("views/describe", { call: "r" }).then(
    () => new Error("it was described"),
    (error: Error) => error,
  );
  const row = scene.events.findLast(hasEnded("r"));
  expect(`${message} ${JSON.stringify(row)}`).toContain(why);
  await expect(here.show("r")).rejects.toThrow();
});

test("a view begins 30 requests at once, five a second from then on, and eight run at a time", async () => {
  await using folder = await temporaryFolder();
  let time = 0;
  const clock = { ...systemClock, now: () => time };
  const rules = '[[rule]]\ntoolName = "*"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n';
  await using here = await viewScene(folder, { rules, state: { clock } });
  const { scene } = here;
  await here.call("c");
  await scene.run("views/read", { call: "r", of: "c" });
  await ended(scene, "r");
  const view = await here.show("r");
  let count = 0;
  const send = async (): Promise<string> => {
    count += 1;
    const id = `poll-${count}`;
    await scene.run("views/send", { view, call: id, method: "tools/call", params: { name: "poll" } });
    return id;
  };
  for (let at = 0; at < 30; at += 1) await ended(scene, await send());
  await expect(send()).rejects.toMatchObject({ code: "busy", message: expect.stringContaining("5 requests a second") });
  time += 1000;
  for (let at = 0; at < 5; at += 1) await ended(scene, await send());
  await expect(send()).rejects.toMatchObject({ code: "busy" });
  time += 60_000;
  const sent = await Promise.allSettled(Array.from({ length: 20 }, () => send()));
  const begun = sent.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(begun).toHaveLength(8);
  for (const id of begun) await ended(scene, id);
  await ended(scene, await send());
});

test("a view neither answers questions nor reaches tools that are not for views, other servers, or requests of others", async () => {
  await using folder = await temporaryFolder();
  await using here = await viewScene(folder);
  const { scene } = here;
  await here.call("c");
  await scene.run("views/read", { call: "r", of: "c" });
  await ended(scene, "r");
  const view = await here.show("r");
  const send = (call: string, method: string, params: object): Promise<unknown> =>
    scene.run("views/send", { view, call, method, params: params as never });
  const refused: readonly (readonly [string, object, string])[] = [
    ["tools/call", { name: "echo" }, "denied"],
    ["tools/call", { name: "other.echo" }, "denied"],
    ["tools/call", { name: "other__echo" }, "denied"],
    ["tools/call", { name: "poll\u0000" }, "denied"],
    ["tools/call", { name: "__proto__" }, "denied"],
    ["tools/call", { name: ["poll"] }, "denied"],
    ["tools/call", {}, "denied"],
    ["tools/call", { name: "poll", arguments: "x" }, "usage"],
    ["tools/call", { name: "poll", arguments: [] }, "usage"],
    ["resources/read", {}, "usage"],
    ["resources/read", { uri: 1 }, "usage"],
    ["questions/answer", { id: "x", answer: {} }, "usage"],
    ["elicitation/create", { message: "x" }, "usage"],
    ["sampling/createMessage", { messages: [] }, "usage"],
    ["initialize", {}, "usage"],
    ["tools/list", {}, "usage"],
    ["completion/complete", {}, "usage"],
    ["logging/setLevel", { level: "debug" }, "usage"],
  ];
  for (const [at, [method, params, code]] of refused.entries())
    await expect(send(`x-${at}`, method, params), `${method} ${JSON.stringify(params)}`).rejects.toMatchObject({
      code,
    });
  // The id of another request, or of one that runs already.
  await expect(send("c", "tools/call", { name: "poll" })).rejects.toMatchObject({ code: "usage" });
  await expect(scene.run("views/answer", { view, call: "c" })).rejects.toMatchObject({ code: "not_found" });
  await send("p", "tools/call", { name: "poll" });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({ server: "own", name: "poll", from: "the view of own", call: "p" });
  // One row: the request of the view, and the call that the host runs for it.
  await scene.event(ofType("call", ({ call }) => call.id === "p" && call.state === "asking"));
  const rows = scene.events.filter(ofType("call", ({ call }) => call.name === "poll")).map(({ call }) => call.id);
  expect(new Set(rows)).toEqual(new Set(["p"]));
  await scene.run("views/close", { view });
  await ended(scene, "p");
  expect(scene.events.findLast(hasEnded("p"))).toMatchObject({ call: { state: "cancelled", from: "view of own" } });
  await expect(send("q", "tools/call", { name: "poll" })).rejects.toMatchObject({ code: "not_found" });
});
