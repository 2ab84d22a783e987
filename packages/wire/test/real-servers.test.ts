import { bundledServer, realServer, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { connect } from "../src/connect.ts";
import type { JsonObject, Session } from "../src/session.ts";
import { listAll } from "../src/shapes/lists.ts";
import { normaliseToolResult } from "../src/shapes/results.ts";
import type { ConnectOptions, StdioTarget } from "../src/target.ts";
import { clientInfo } from "./support/modern-session.ts";
import { program } from "./support/stdio-server.ts";

function installed(
  name: "filesystem" | "gitlab" | "memory",
  env: Record<string, string>,
  ...args: string[]
): StdioTarget {
  const target = modern();
  return { ...target, ...realServer(name, ...args), env: { ...target.env, ...env } };
}

function modern(...args: string[]): StdioTarget {
  const target = program("modern.mjs", ...args);
  const bundled = bundledServer("modern");
  return bundled === undefined ? target : { ...target, args: [bundled, ...args] };
}

async function connected(target: StdioTarget, times: ConnectOptions["times"] = {}): Promise<Session & AsyncDisposable> {
  const session = await connect(target, { clientInfo, times: { endGrace: 500, probe: 10_000, ...times } });
  return { ...session, [Symbol.asyncDispose]: () => session.close() };
}

async function call(session: Session, name: string, args: JsonObject) {
  return normaliseToolResult(await session.request("tools/call", { name, arguments: args }));
}

describe("servers that people use", () => {
  test("all nine tools of gitlab are listed, whatever their schemas are", async () => {
    await using session = await connected(installed("gitlab", { GITLAB_PERSONAL_ACCESS_TOKEN: "none" }));
    const { items, dropped } = await listAll(session, "tools");
    expect([items.length, dropped]).toEqual([9, []]);
  });

  test("filesystem reads what it may, and says no to the rest", async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write("a.txt", "content of a");
    await using session = await connected(installed("filesystem", {}, folder.path));
    expect((await listAll(session, "tools")).items.length).toBeGreaterThan(5);
    expect((await call(session, "read_text_file", { path })).content).toEqual([{ type: "text", text: "content of a" }]);
    expect((await call(session, "read_text_file", { path: "/etc/hostname" })).isError).toBe(true);
  });

  test("memory, which has no prompts and does not say so, is asked for them anyway", async () => {
    await using folder = await temporaryFolder();
    await using session = await connected(installed("memory", { MEMORY_FILE_PATH: `${folder.path}/memory.json` }));
    expect((await listAll(session, "tools")).items.length).toBeGreaterThan(5);
    expect(await listAll(session, "prompts")).toEqual({ items: [], dropped: [], repaired: [] });
    expect((await call(session, "read_graph", {})).structuredContent).toEqual({ entities: [], relations: [] });
  });
});

describe("a modern server of the official library", () => {
  test.each(["serve", "reject"])("is found out when it would %s the legacy era", async (legacy) => {
    await using session = await connected(modern(legacy));
    expect(session).toMatchObject({ era: "modern", serverInfo: { name: "modern", version: "1.0.0" } });
    expect((await call(session, "echo", { message: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
  });

  test("that is slower than the probe, and has no legacy era, is found out all the same", async () => {
    await using session = await connected(modern("reject"), { probe: 1 });
    expect(session.era).toBe("modern");
    expect((await call(session, "echo", { message: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
  });

  test("that is slower than the probe, and speaks both, is opened in one of them, and works", async () => {
    await using session = await connected(modern("serve"), { probe: 1 });
    expect((await call(session, "echo", { message: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
  });
});
