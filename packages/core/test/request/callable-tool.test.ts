import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { CallableTool as GenaiTool } from "@google/genai";
import { expect, test } from "vitest";
import {
  createHost,
  type Host,
  type HostOptions,
  type RegisteredTool,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/index.ts";

interface Desk extends AsyncDisposable {
  readonly host: Host;
  /** The calls that reached the server. */
  calls(): Promise<readonly string[]>;
}

async function desk(options: HostOptions = {}, entry: object = {}, fairlead: object = {}): Promise<Desk> {
  const folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const s = { ...stdioServer("counted", notes), ...entry };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s }, fairlead });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createHost({ environment, recover: false, trust: true, ...options });
  await host.start();
  return {
    host,
    calls: async () => (await readFile(notes, "utf8")).split("\n").filter((line) => line.startsWith("call ")),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function echo({ toolRegistry }: Host): RegisteredTool {
  const tool = toolRegistry.find("s", "echo");
  if (tool === undefined) throw new Error("no echo");
  return tool;
}

const hello = { id: "1", name: "echo", args: { text: "hello" } };
const said = (text: string): unknown => ({ output: expect.stringContaining(text) });

test("what a host offers is what @google/genai takes, and is called under the names that it was shown", async () => {
  await using at = await desk({}, { trust: true });
  const tool: GenaiTool = at.host.asCallableTool();
  expect((await tool.tool()).functionDeclarations?.map(({ name }) => name)).toEqual(["echo", "ask"]);
  expect(await tool.callTool([hello, { ...hello, id: "2", args: { text: "again" } }])).toEqual([
    { functionResponse: { id: "1", name: "echo", response: said("hello") } },
    { functionResponse: { id: "2", name: "echo", response: said("again") } },
  ]);
  expect([...(await at.calls())].sort()).toEqual(['call echo {"text":"again"}', 'call echo {"text":"hello"}']);
});

test("without trust the person is asked; their no is told to the model, and nothing runs", async () => {
  const asked: ToolCallConfirmationDetails[] = [];
  const answers = [ToolConfirmationOutcome.Cancel, ToolConfirmationOutcome.ProceedOnce, ToolConfirmationOutcome.Cancel];
  await using at = await desk({
    async confirm(details) {
      asked.push(details);
      return answers.shift() ?? ToolConfirmationOutcome.Cancel;
    },
  });
  const tool = at.host.asCallableTool();
  const no = { error: "denied: s.echo denied: the user declined it" };
  const answer = (response: unknown): unknown => [{ functionResponse: { id: "1", name: "echo", response } }];
  expect(await tool.callTool([hello])).toEqual(answer(no));
  expect(await tool.callTool([hello])).toEqual(answer(said("hello")));
  expect(await tool.callTool([hello])).toEqual(answer(no));
  expect(asked.map(({ serverName, toolName, args }) => [serverName, toolName, args])).toEqual(
    Array.from({ length: 3 }, () => ["s", "echo", { text: "hello" }]),
  );
  expect(await at.calls()).toEqual(['call echo {"text":"hello"}']);
});

test("without a way to ask the user, a call that is not trusted is denied; so is what the settings close, and what there is not", async () => {
  await using at = await desk({}, {}, { permissions: { denyTools: ["ask"] } });
  const tool = at.host.asCallableTool();
  const error = async (name: string): Promise<unknown> =>
    (await tool.callTool([{ name, args: {} }]))[0]?.functionResponse?.response?.["error"];
  expect(await error("echo")).toBe("denied: s.echo denied: it needs confirmation and this program cannot ask for it");
  expect(await error("ask")).toMatch(
    /^denied: s\.ask denied: fairlead\.permissions\.denyTools in .*settings\.json:\d+ denies it$/,
  );
  expect(await error("ecco")).toBe('tool_unknown: there is no tool "ecco"; did you mean "echo"?');
  expect(await at.calls()).toEqual([]);
});

test("trust counts only in a trusted folder", async () => {
  await using at = await desk({ trust: false }, { trust: true });
  expect(at.host.tools("s").map(({ decision }) => decision)).toEqual(["ask_user", "ask_user"]);
  await expect(echo(at.host).execute({ text: "x" })).rejects.toMatchObject({ code: "denied" });
});

test("a tool of a host runs only what was confirmed, for exactly these arguments, once", async () => {
  await using at = await desk();
  const tool = echo(at.host);
  await expect(tool.execute({ text: "a" })).rejects.toMatchObject({
    code: "denied",
    message: "s.echo denied: the user has not confirmed these arguments",
  });
  const details = await tool.shouldConfirmExecute({ text: "a" });
  if (details === false) throw new Error("not asked");
  await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  await expect(tool.execute({ text: "b" })).rejects.toMatchObject({ code: "denied" });
  expect(await tool.execute({ text: "a" })).toEqual({
    llmContent: expect.arrayContaining([expect.objectContaining({ text: "a" })]),
    returnDisplay: "a",
  });
  await expect(tool.execute({ text: "a" })).rejects.toMatchObject({ code: "denied" });
  expect(await at.calls()).toEqual(['call echo {"text":"a"}']);
});

test("an always is for all tools of the host that it was said for, and for no other host", async () => {
  await using at = await desk();
  await using other = await desk();
  const details = await echo(at.host).shouldConfirmExecute({});
  if (details === false) throw new Error("not asked");
  await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysServer);
  expect(at.host.tools("s").map(({ decision }) => decision)).toEqual(["allow", "allow"]);
  expect(await echo(at.host).shouldConfirmExecute({ text: "x" })).toBe(false);
  expect(other.host.tools("s").map(({ decision }) => decision)).toEqual(["ask_user", "ask_user"]);
});

test("what was confirmed is what is sent, whatever becomes of the caller's own object", async () => {
  await using at = await desk();
  const tool = echo(at.host);
  const yes = async (args: unknown): Promise<void> => {
    const details = await tool.shouldConfirmExecute(args);
    if (details === false) throw new Error("not asked");
    await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  };
  const args = { text: "safe", deep: { list: ["safe"] } };
  await yes(args);
  const running = tool.execute(args);
  args.text = "evil";
  args.deep.list[0] = "evil";
  await running;
  // Shown is what `toJSON` gives, and what a getter gave then.
  let reads = 0;
  const tricky = {
    get text() {
      reads += 1;
      return reads === 1 ? "safe" : "evil";
    },
  };
  await yes(tricky);
  await expect(tool.execute(tricky)).rejects.toMatchObject({ code: "denied" });
  await yes({ text: new Date(0) });
  await expect(tool.execute({ text: new Date(1) })).rejects.toMatchObject({ code: "denied" });
  await expect(tool.execute({ text: 1n })).rejects.toMatchObject({ code: "arguments_invalid" });
  expect(await at.calls()).toEqual(['call echo {"text":"safe","deep":{"list":["safe"]}}']);
});

test("an unknown answer is a no", async () => {
  await using at = await desk({ confirm: async () => "maybe" as ToolConfirmationOutcome });
  const [part] = await at.host.asCallableTool().callTool([hello]);
  expect(part?.functionResponse?.response).toEqual({ error: "denied: s.echo denied: the user declined it" });
  expect(await at.calls()).toEqual([]);
});

test("no more is declared than a model's API takes, however many servers there are", async () => {
  await using folder = await temporaryFolder();
  const mcpServers = { a: stdioServer("huge-catalog", "300"), b: stdioServer("huge-catalog", "300") };
  await folder.write("home/.gemini/settings.json", { mcpServers });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({
    environment: { env, home, cwd: home, platform: process.platform },
    recover: false,
    trust: true,
  });
  await host.start();
  expect(host.tools()).toHaveLength(600);
  const { functionDeclarations = [] } = await host.asCallableTool().tool();
  expect([functionDeclarations.length, functionDeclarations[0]?.name]).toEqual([512, "tool-0"]);
  expect(host.toolRegistry.getFunctionDeclarations()).toEqual(functionDeclarations);
});
