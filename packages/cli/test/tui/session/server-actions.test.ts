import type { ServerChanges, ServerState } from "@fairlead/core/events";
import type { OpenedHost } from "@fairlead/core/host";
import { expect, test } from "vitest";
import { ServerActions } from "../../../src/tui/session/server-actions.ts";

const peer = { era: "legacy", protocolVersion: "2025-06-18", serverInfo: { name: "s", version: "1" } } as const;
const offer = { tools: 2, prompts: 0, resources: 0, resourceTemplates: 0 };
const connected: ServerState = { name: "a", since: 0, status: "connected", peer, offer };
const idle: ServerState = { name: "a", since: 0, status: "disconnected", reason: "lazy" };
const failed: ServerState = {
  name: "a",
  since: 0,
  status: "needs_auth",
  reason: "auth_required",
  message: "sign in first",
  next: "fairlead mcp auth a",
};
const unchanged: ServerChanges = { kept: [], replaced: [], added: [], removed: [] };

/** The actions with fakes. `done` lists everything that happens, in order. */
function scene(state: ServerState, changes: ServerChanges = unchanged) {
  const done: string[] = [];
  const step = (...words: readonly (string | boolean | readonly string[] | undefined)[]): void =>
    void done.push(words.flatMap((word) => word ?? []).join(" "));
  const host = {
    states: () => [{ ...connected, name: "other" }, state],
    start: async (options?: { readonly servers?: readonly string[] }) => step("start", options?.servers ?? "all"),
    stop: async (servers: readonly string[]) => step("stop", servers),
    restart: async (servers: readonly string[]) => step("restart", servers),
    reload: async () => changes,
    changeSettings: async (change: () => Promise<string>) => {
      step("change");
      return change();
    },
  };
  const actions = new ServerActions({
    session: {
      host: host as unknown as OpenedHost,
      note: (tone, text, next) => step(`${tone}:`, text, next && `→ ${next}`),
      show: (title, text) => step("show", `${title}:`, text),
      fail: (error) => step("fail", (error as Error).message),
    },
    runVerb: async (...words) => `ran ${words.join(" ")}`,
    signIn: async (server, device) => step("sign in to", server, device),
  });
  return { actions, done };
}

const ready = 'info: "a": connected: 2 tools';
const notReady = "warning: sign in first → /mcp auth a";

test.each([
  ["start", connected, ["start a", ready]],
  ["start", failed, ["start a", notReady]],
  ["start", idle, ["start a", 'warning: "a" is disconnected']],
  ["stop", connected, ["stop a", 'info: "a" is stopped; it starts again when it is needed → /mcp start a']],
  ["restart", connected, ["restart a", ready]],
  ["restart", failed, ["restart a", notReady]],
  ["enable", idle, ["change", "info: ran mcp enable a", "start a", 'warning: "a" is disconnected']],
  ["enable", connected, ["change", "info: ran mcp enable a"]],
  ["disable", connected, ["change", "info: ran mcp disable a"]],
  ["auth", connected, ["sign in to a false", "restart a", ready]],
  ["test", connected, ["show /mcp test a: ran mcp test a"]],
] as const)("/mcp %s with a server whose state is %j", async (verb, state, expected) => {
  const { actions, done } = scene(state);
  await actions[verb]("a");
  expect(done).toEqual(expected);
});

test("a sign-in with a device code asks for one", async () => {
  const { actions, done } = scene(connected);
  await actions.auth("a", { device: true });
  expect(done[0]).toBe("sign in to a true");
});

test.each(["start", "stop", "restart", "enable", "disable", "auth", "test"] as const)(
  "/mcp %s of a server that does not exist does nothing",
  async (verb) => {
    const { actions, done } = scene(connected);
    await expect(actions[verb]("othr")).rejects.toMatchObject({
      code: "server_unknown",
      message: expect.stringMatching(/^there is no server "othr".*other/),
      next: "/mcp list",
    });
    expect(done).toEqual([]);
  },
);

test("the state of a server is found by its whole name", () => {
  const { actions } = scene(failed);
  expect(actions.stateOf("a")).toBe(failed);
  expect(() => actions.stateOf("")).toThrow('there is no server ""');
});

test.each<[string, Partial<ServerChanges>, (() => string) | undefined, string]>([
  ["nothing", {}, undefined, "Settings reloaded. No server has changed."],
  [
    "everything",
    { added: ["a", "b"], replaced: ["c"], removed: ["d", "e"] },
    undefined,
    "Settings reloaded. Added: a, b. Changed: c. Removed: d, e.",
  ],
  [
    "one, for a reason",
    { replaced: ["c"] },
    () => "/w is now trusted.",
    "/w is now trusted. Settings reloaded. Changed: c.",
  ],
])("a reload says what has changed, and starts the servers: %s", async (_, changes, reason, words) => {
  const { actions, done } = scene(connected, { ...unchanged, ...changes });
  await actions.reload(reason);
  expect(done).toEqual([`info: ${words}`, "start all"]);
});
