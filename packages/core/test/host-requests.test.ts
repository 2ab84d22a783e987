import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type HostOptions } from "../src/index.ts";

interface Asked {
  /** What the server was told of us. */
  readonly declared: unknown;
  /** What it got for its question. */
  readonly answer: unknown;
  readonly work: string;
}

async function ask(method: string, params: object, options: HostOptions, fairlead: object = {}): Promise<Asked> {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: stdioServer("counted", notes) }, fairlead });
  await folder.write("work/.gemini/settings.json", {});
  const home = join(folder.path, "home");
  const work = join(folder.path, "work");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({
    environment: { env, home, cwd: work, platform: process.platform },
    recover: false,
    ...options,
  });
  const { content } = await host.call("s", "ask", { method, params });
  const [block] = content;
  const declared = (await readFile(notes, "utf8")).split("\n").find((line) => line.startsWith("declared"));
  return {
    declared: JSON.parse(declared?.slice("declared ".length) ?? ""),
    answer: JSON.parse(block?.type === "text" ? block.text : ""),
    work,
  };
}

const form = {
  message: "Name?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string" }, loud: { type: "boolean", default: true } },
  },
};

test("in a trusted folder a server may know which one it is", async () => {
  const { declared, answer, work } = await ask("roots/list", {}, { trust: true });
  expect(declared).toEqual({ roots: {} });
  expect(answer).toEqual({ roots: [{ uri: pathToFileURL(work).href, name: "work" }] });
});

test("in a folder that is not trusted a server learns nothing of it, and nothing is declared", async () => {
  const { declared, answer } = await ask("roots/list", {}, { trust: false });
  expect(declared).toEqual({});
  expect(answer).toMatchObject({ code: -32601 });
});

test("a question reaches the program that embeds the host, and its answer the server", async () => {
  const { declared, answer } = await ask("elicitation/create", form, {
    elicit: async (request) => ({ action: "accept", content: { name: `${request.serverName}!` } }),
  });
  expect(declared).toEqual({ elicitation: { form: { applyDefaults: true }, url: {} } });
  expect(answer).toEqual({ action: "accept", content: { name: "s!", loud: true } });
});

test("without anyone to ask, a question is refused", async () => {
  const { declared, answer } = await ask("elicitation/create", form, {});
  expect(declared).toEqual({});
  expect(answer).toMatchObject({ code: -32601 });
});

test("a model is asked only for a server whose settings allow it", async () => {
  const sample = async (): Promise<Record<string, unknown>> => ({ role: "assistant", model: "m" });
  const refused = await ask("sampling/createMessage", { messages: [] }, { sample });
  expect(refused.declared).toEqual({});
  expect(refused.answer).toMatchObject({ code: -32601 });
  const allowed = await ask(
    "sampling/createMessage",
    { messages: [] },
    { sample },
    { servers: { s: { sampling: true } } },
  );
  expect(allowed.declared).toEqual({ sampling: {} });
  expect(allowed.answer).toEqual({ role: "assistant", model: "m" });
});
