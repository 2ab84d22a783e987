import type { ServerState } from "@fairlead/core/events";
import type { HostTool } from "@fairlead/core/host";
import { expect, test } from "vitest";
import { checkServer, type ServerFacts } from "../../src/doctor/connect-and-check.ts";

const peer = { era: "legacy", protocolVersion: "2025-11-25", serverInfo: { name: "x", version: "1" } } as const;
const offer = { tools: 2, prompts: 0, resources: 0, resourceTemplates: 0 };
const here = { name: "my server", since: 0 };
const connected: ServerState = { ...here, status: "connected", peer, offer };
const ok = {
  severity: "ok",
  server: "my server",
  message: "my server is connected: 2 tools (protocol 2025-11-25, 12 ms)",
};
const tool: HostTool = {
  name: "t",
  server: "my server",
  serverToolName: "t",
  description: "",
  parametersJsonSchema: {},
  inputSchema: {},
  repairs: [],
  decision: "ask_user",
};
const repairs = [{ path: "/a", keyword: "oneOf", action: "rewritten", note: "as anyOf" }] as const;

function check(facts: Partial<ServerFacts>): unknown {
  return checkServer({
    state: connected,
    milliseconds: 12.3,
    tools: [tool],
    quarantined: [],
    notes: [],
    hide: (text) => text.replaceAll("canary", "(hidden)"),
    ...facts,
  });
}

test("one that works", () => {
  expect(check({})).toEqual([ok]);
});

test("what is said about what it offers, without its secrets", () => {
  const found = check({
    state: { ...connected, offer: { ...offer, note: "canary" } },
    tools: [{ ...tool, repairs }, tool],
    notes: [{ server: "my server", message: "the list is cut" }],
  });
  expect(found).toEqual([
    ok,
    { severity: "note", server: "my server", message: '"my server": (hidden)', next: "fairlead mcp get 'my server'" },
    {
      severity: "warning",
      server: "my server",
      message: '"my server": the list is cut',
      next: "fairlead tools 'my server'",
    },
    {
      severity: "note",
      server: "my server",
      message: `"my server": 1 of 2 tools was adapted to the model's API`,
      next: "fairlead tools 'my server' --repairs",
    },
  ]);
});

test("tools that no model is offered: the first few, with the reason", () => {
  const quarantined = Array.from({ length: 7 }, (_, at) => ({
    server: "my server",
    serverToolName: `t${at}`,
    reason: "too deep",
  }));
  expect(check({ quarantined })).toEqual([
    ok,
    {
      severity: "warning",
      server: "my server",
      message:
        '"my server" has quarantined tools, which models do not see: t0 (too deep), t1 (too deep), t2 (too deep), t3 (too deep), t4 (too deep) and 2 more',
      next: "fairlead tools 'my server' --all",
    },
  ]);
});

test.each<[ServerState, object]>([
  [
    { ...here, status: "disconnected", reason: "server_exited", message: "it said canary" },
    {
      severity: "problem",
      code: "server_exited",
      message: "it said (hidden)",
      next: "fairlead mcp test 'my server'",
    },
  ],
  [
    { ...here, status: "needs_auth", reason: "auth_required", message: "sign in", next: "do" },
    { severity: "problem", code: "auth_required", message: "sign in", next: "do" },
  ],
  [
    { ...here, status: "disabled", reason: "user", message: "off", next: "fairlead mcp enable x" },
    { severity: "note", message: "off", next: "fairlead mcp enable x" },
  ],
])("%o", (state, finding) => {
  expect(check({ state })).toEqual([{ server: "my server", ...finding }]);
});
