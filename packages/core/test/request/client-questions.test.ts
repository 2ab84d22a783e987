import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test, vi } from "vitest";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import type { HostOptions, JsonObject } from "../../src/index.ts";
import { parentVariable } from "../../src/trust/own-entry.ts";

const claude = { name: "claude-code", conversation: "c1" };
const codex = { name: "codex", conversation: "x1" };

/** A host of a gateway, with one server that asks whatever its tool `ask` is told to ask. */
async function open(folder: TemporaryFolder, options: HostOptions = {}): Promise<OpenedHost> {
  const s = { ...stdioServer("counted", join(folder.path, "notes")), trust: true };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  return createOpenedHost({ environment, recover: false, trust: true, ...options });
}

const elicitation = { elicitation: true, sampling: false, roots: false };

function ask(client = claude, method = "elicitation/create") {
  const params = { name: "ask", arguments: { method, params: { message: "Which one?" } } };
  return { client, server: "s", method: "tools/call", params };
}

const textOf = ({ content }: JsonObject): unknown => (content as { text: string }[])[0]?.text;

test("declares what the gateway says, and puts a question to the request that it belongs to", async () => {
  await using folder = await temporaryFolder();
  const onQuestion = vi.fn(async () => ({ action: "decline" }));
  await using host = await open(folder, { declare: elicitation, onQuestion, era: "legacy" });
  const asked: unknown[] = [];
  const answered = await host.gateway.forward(ask(), {
    answer: async (method, params) => {
      asked.push([method, params]);
      return { action: "accept", content: { size: "small" } };
    },
  });
  expect(textOf(answered)).toBe('{"action":"accept","content":{"size":"small"}}');
  expect(asked).toEqual([["elicitation/create", { message: "Which one?" }]]);
  expect(onQuestion).not.toHaveBeenCalled();

  // A request without an answer of its own.
  expect(textOf(await host.gateway.forward(ask()))).toBe('{"action":"decline"}');
  expect(onQuestion).toHaveBeenCalledWith(
    "s",
    "elicitation/create",
    expect.anything(),
    expect.anything(),
    expect.anything(),
  );
  const [, declared = "{}"] = /^declared (.*)$/m.exec(await readFile(join(folder.path, "notes"), "utf8")) ?? [];
  expect(Object.keys(JSON.parse(declared) as object)).toEqual(["elicitation"]);
});

test("a question while requests of two clients are open goes to neither, and the server is remembered", async () => {
  await using folder = await temporaryFolder();
  {
    const questions: (() => void)[] = [];
    await using host: OpenedHost = await open(folder, {
      declare: elicitation,
      era: "legacy",
      onQuestion: async (server) => {
        host.gateway.servers.get(server).noteAsksBack();
        throw new Error("which client is meant cannot be told");
      },
    });
    expect(host.gateway.servers.get("s").shareOf()).toBe("all");
    const isAsked = new Promise<void>((resolve) => questions.push(resolve));
    const answer = vi.fn(async () => {
      for (const tell of questions) tell();
      await new Promise<void>((resolve) => questions.push(resolve));
      return { action: "cancel" };
    });
    const first = host.gateway.forward(ask(), { answer });
    await isAsked;
    const second = await host.gateway.forward(ask(codex), { answer });
    expect(textOf(second)).toContain("which client is meant cannot be told");
    expect(answer).toHaveBeenCalledTimes(1);
    for (const tell of questions) tell();
    expect(textOf(await first)).toBe('{"action":"cancel"}');
    expect(host.gateway.servers.get("s").shareOf()).toBe("client");
  }
  await using later = await open(folder);
  expect(later.gateway.servers.get("s").shareOf()).toBe("client");
  expect(later.gateway.servers.get("s").facts()).toEqual({
    era: "legacy",
    serverInfo: { name: "counted", version: "1.0.0" },
    capabilities: { tools: {} },
  });
});

test("a gateway that one of its own servers starts is refused", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, { declare: elicitation });
  const env = { ...process.env, [parentVariable]: "1" };
  const environment = { env, home: folder.path, cwd: folder.path, platform: process.platform };
  await expect(createOpenedHost({ environment, declare: elicitation })).rejects.toMatchObject({ code: "usage" });
  expect(host.states().map(({ status }) => status)).toEqual(["disconnected", "disconnected"]);
});
