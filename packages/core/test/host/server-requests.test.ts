import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type HostOptions, ToolConfirmationOutcome } from "../../src/index.ts";

interface Asked {
  /** What the server was told of us. */
  readonly declared: unknown;
  /** What it got for its question. */
  readonly answer: unknown;
  readonly work: string;
}

async function ask(
  method: string,
  params: object,
  options: HostOptions,
  fairlead: object = {},
  rules = "",
): Promise<Asked> {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: stdioServer("counted", notes) }, fairlead });
  await folder.write("home/.gemini/policies/mine.toml", rules);
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

const rooted = { servers: { s: { roots: true } } };

test("without `roots: true` a server is not told the folder, so it keeps the folders of its arguments", async () => {
  const { declared, answer } = await ask("roots/list", {}, { trust: true });
  expect(declared).toEqual({});
  expect(answer).toMatchObject({ code: -32601 });
});

test("with `roots: true` a server gets the workspace root of a trusted folder", async () => {
  const { declared, answer, work } = await ask("roots/list", {}, { trust: true }, rooted);
  expect(declared).toEqual({ roots: {} });
  expect(answer).toEqual({ roots: [{ uri: pathToFileURL(work).href, name: "work" }] });
});

test("in a folder that is not trusted a server learns nothing of it, and nothing is declared", async () => {
  const { declared, answer } = await ask("roots/list", {}, { trust: false }, rooted);
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

test("without a way to ask the user, a question is refused", async () => {
  const { declared, answer } = await ask("elicitation/create", form, {});
  expect(declared).toEqual({});
  expect(answer).toMatchObject({ code: -32601 });
});

const sampling = { servers: { s: { sampling: true } } };
const sample = async (): Promise<Record<string, unknown>> => ({ role: "assistant", model: "m" });
const notAllowed = { code: -1, message: "sampling is not allowed for this server" };

test("a server whose settings do not allow it cannot ask for a model at all", async () => {
  const { declared, answer } = await ask("sampling/createMessage", { messages: [] }, { sample });
  expect(declared).toEqual({});
  expect(answer).toMatchObject({ code: -32601 });
});

test.each([
  ["without a way to ask the user, the model is not asked", {}, notAllowed],
  ["who says no is obeyed", { confirm: async () => ToolConfirmationOutcome.Cancel }, notAllowed],
  [
    "who says yes lets the model answer",
    { confirm: async () => ToolConfirmationOutcome.ProceedOnce },
    { role: "assistant", model: "m" },
  ],
])("a server whose settings allow sampling may ask for it, and no more: %s", async (_how, options, expected) => {
  const { declared, answer } = await ask("sampling/createMessage", { messages: [] }, { sample, ...options }, sampling);
  expect(declared).toEqual({ sampling: {} });
  expect(answer).toEqual(expected);
});

test("the person is asked about exactly what the server wants the model to be asked", async () => {
  const params = { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], systemPrompt: "Be brief." };
  const asked: unknown[] = [];
  const confirm: HostOptions["confirm"] = async ({ serverName, args }) => {
    asked.push({ serverName, args });
    return ToolConfirmationOutcome.Cancel;
  };
  await ask("sampling/createMessage", params, { sample, confirm }, sampling);
  expect(asked).toEqual([{ serverName: "s", args: params }]);
});

test("a rule of the person's own lets a model be asked without a question", async () => {
  const rule = '[[rule]]\nkind = "sampling"\nmcpName = "s"\ndecision = "allow"\npriority = 1\n';
  const { answer } = await ask("sampling/createMessage", { messages: [] }, { sample }, sampling, rule);
  expect(answer).toEqual({ role: "assistant", model: "m" });
});
