import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { RecordedMessage } from "../../src/recordings/recording.ts";
import { scriptsOf } from "../../src/recordings/scripts.ts";

type Line = readonly [at: number, from: "client" | "server", message: JsonObject, connection?: string];

const scripts = (...lines: readonly Line[]) =>
  scriptsOf({ messages: lines.map(([at, from, message, c = "a"]): RecordedMessage => ({ c, at, from, message })) });

const script = { params: {}, isRequest: true, isModern: false, isCancelled: false };
const none = { kind: "none" };

test("each message of the client becomes a script with the server's replies and the times between them", () => {
  expect(
    scripts(
      [5, "client", { id: 1, method: "a", params: { x: 1 } }],
      [7, "client", { id: "1", method: "b" }],
      [15, "server", { id: "1", error: { code: 1 } }],
      [30, "server", { id: 1, result: { ok: true } }],
      [31, "client", { method: "notifications/initialized" }],
      [36, "server", { method: "notifications/message", params: { data: "m" } }],
    ),
  ).toMatchObject([
    { ...script, method: "a", params: { x: 1 }, steps: [{ after: 25, kind: "result", result: { ok: true } }] },
    { ...script, method: "b", steps: [{ after: 8, kind: "error", error: { code: 1 } }] },
    {
      ...script,
      method: "notifications/initialized",
      isRequest: false,
      steps: [{ after: 5, kind: "notification", method: "notifications/message", params: { data: "m" }, about: none }],
    },
  ]);
});

test("a request is modern if it names the protocol version as a text", () => {
  const named = (version: unknown) => ({ _meta: { "io.modelcontextprotocol/protocolVersion": version } });
  const asked = [named("2026-07-28"), named(1), {}].map(
    (params, id): Line => [0, "client", { id, method: "a", params }],
  );
  expect(scripts(...asked).map(({ isModern }) => isModern)).toEqual([true, false, false]);
});

test("a cancelled request is marked, and the cancellation itself is no script", () => {
  const cancelled = { method: "notifications/cancelled", params: { requestId: 2 } };
  expect(
    scripts(
      [0, "client", { id: 1, method: "a" }],
      [0, "client", { id: 2, method: "b" }],
      [1, "client", cancelled],
      [2, "client", { ...cancelled, params: { requestId: 9 } }],
    ).map(({ method, isCancelled }) => [method, isCancelled]),
  ).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

test("progress belongs to the request with its token; other notifications to the latest message", () => {
  const progress = (token: number) => ({ method: "notifications/progress", params: { progressToken: token } });
  const [first, second] = scripts(
    [0, "client", { id: 1, method: "a", params: { _meta: { progressToken: 5 } } }],
    [1, "client", { id: 2, method: "b" }],
    [2, "server", progress(5)],
    [3, "server", progress(6)],
    [4, "server", { method: "notifications/message" }],
    [5, "server", { id: 1, result: {} }],
  );
  expect(first?.steps).toEqual([
    { after: 2, kind: "notification", ...progress(5), about: { kind: "progress" } },
    { after: 3, kind: "result", result: {} },
  ]);
  expect(second?.steps).toEqual([
    { after: 3, kind: "notification", method: "notifications/message", params: {}, about: none },
  ]);
});

test("a notification of a subscription names the script of the subscription until that one is answered", () => {
  const changed = {
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  };
  const [listen, other] = scripts(
    [0, "client", { id: 1, method: "subscriptions/listen" }],
    [1, "client", { id: 2, method: "a" }],
    [2, "server", changed],
    [3, "server", { id: 1, result: {} }],
    [4, "server", changed],
  );
  expect(other?.steps).toMatchObject([{ about: { kind: "subscription" } }, { about: none }]);
  const [step] = other?.steps ?? [];
  expect(step?.kind === "notification" && step.about.kind === "subscription" && step.about.script).toBe(listen);
});

test("the client's time to answer a question does not count, and what follows belongs to the asking script", () => {
  const [asking, other] = scripts(
    [0, "client", { id: 1, method: "a" }],
    [10, "server", { id: 9, method: "elicitation/create", params: { message: "Who?" } }],
    [20, "client", { id: 2, method: "b" }],
    [500, "client", { id: 9, result: {} }],
    [505, "server", { method: "notifications/message" }],
    [506, "client", { id: 77, result: {} }],
    [507, "server", { id: 1, result: {} }],
  );
  expect(asking?.steps).toEqual([
    { after: 10, kind: "request", method: "elicitation/create", params: { message: "Who?" } },
    { after: 5, kind: "notification", method: "notifications/message", params: {}, about: none },
    { after: 2, kind: "result", result: {} },
  ]);
  expect(other?.steps).toEqual([]);
});

test("messages of a server before the first of a client, and second answers, are left out", () => {
  expect(
    scripts(
      [0, "server", { method: "notifications/message" }],
      [0, "server", { id: 1, method: "ping" }],
      [9, "client", { id: 1, method: "a" }],
      // A clock that was set back makes no negative time.
      [4, "server", { id: 1, result: {} }],
      [5, "server", { id: 1, result: { again: true } }],
    ),
  ).toMatchObject([{ ...script, method: "a", steps: [{ after: 0, kind: "result", result: {} }] }]);
});

test("connections are kept apart, one after the other", () => {
  const found = scripts(
    [0, "client", { id: 1, method: "a" }, "one"],
    [0, "client", { id: 1, method: "b" }, "two"],
    [1, "client", { id: 2, method: "c" }, "one"],
    [3, "server", { id: 1, result: { of: "two" } }, "two"],
  );
  expect(found.map(({ method, steps }) => [method, steps])).toEqual([
    ["a", []],
    ["c", []],
    ["b", [{ after: 3, kind: "result", result: { of: "two" } }]],
  ]);
});
