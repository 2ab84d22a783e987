import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test, vi } from "vitest";
import { createHost, type Host, type HostOptions, type JsonObject } from "../../src/index.ts";
import { parentVariable } from "../../src/trust/own-entry.ts";

const claude = { name: "claude-code", conversation: "c1" };
const codex = { name: "codex", conversation: "x1" };

/** A host of a gateway, with one server that asks whatever its tool `ask` is told to ask. */
async function open(folder: TemporaryFolder, options: HostOptions = {}): Promise<Host> {
  const s = { ...stdioServer("counted", join(folder.path, "notes")), trust: true };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  return createHost({ environment, recover: false, trust: true, ...options });
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
  const answered = await host.forward(ask(), {
    answer: async (method, params) => {
      asked.push([method, params]);
      return { action: "accept", content: { size: "small" } };
    },
  });
  expect(textOf(answered)).toBe('{"action":"accept","content":{"size":"small"}}');
  expect(asked).toEqual([["elicitation/create", { message: "Which one?" }]]);
  expect(onQuestion).not.toHaveBeenCalled();

  // A request without an answer of its own.
  expect(textOf(await host.forward(ask()))).toBe('{"action":"decline"}');
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
    await using host: Host = await open(folder, {
      declare: elicitation,
      era: "legacy",
      onQuestion: async (server) => {
        host.noteAsksBack(server);
        throw new Error("which client is meant cannot be told");
      },
    });
    expect(host.shareOf("s")).toBe("all");
    const isAsked = new Promise<void>((resolve) => questions.push(resolve));
    const answer = vi.fn(async () => {
      for (const tell of questions) tell();
      await new Promise<void>((resolve) => questions.push(resolve));
      return { action: "cancel" };
    });
    const first = host.forward(ask(), { answer });
    await isAsked;
    const second = await host.forward(ask(codex), { answer });
    expect(textOf(second)).toContain("which client is meant cannot be told");
    expect(answer).toHaveBeenCalledTimes(1);
    for (const tell of questions) tell();
    expect(textOf(await first)).toBe('{"action":"cancel"}');
    expect(host.shareOf("s")).toBe("client");
  }
  await using later = await open(folder);
  expect(later.shareOf("s")).toBe("client");
  expect(later.serverFacts("s")).toEqual({
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
  await expect(createHost({ environment, declare: elicitation })).rejects.toMatchObject({ code: "usage" });
  expect(host.states().map(({ status }) => status)).toEqual(["disconnected", "disconnected"]);
});
