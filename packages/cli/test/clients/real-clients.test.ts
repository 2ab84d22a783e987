import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Asked, calls, geminiApi, type ModelAnswer, openaiApi, says } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { greetServer } from "../support/connected.ts";
import { type GatewayMachine, gatewayMachine } from "../support/gateway-client.ts";
import { userFile } from "../support/machine.ts";
import { program } from "../support/process.ts";

/**
 * Programs that people use, each with the entry that `fairlead connect` wrote for it. They are searched for in the folder
 * that FAIRLEAD_TEST_CLIENTS names, for example `node_modules/.bin` of a folder where they were installed, then in PATH.
 */
const folders = [process.env["FAIRLEAD_TEST_CLIENTS"] ?? "", ...(process.env["PATH"] ?? "").split(delimiter)];
const names = ["claude", "codex", "gemini", "opencode", "mcporter", "mcp-inspector"] as const;
type Program = (typeof names)[number];

const found = new Map(
  names.flatMap((name) =>
    folders
      .map((folder) => join(folder, name))
      .filter(isProgram)
      .slice(0, 1)
      .map((file) => [name, file] as const),
  ),
);
const absent = names.filter((name) => !found.has(name));
const minutes = 60_000;

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return file.startsWith("/");
  } catch {
    return false;
  }
}

let here: GatewayMachine;
let isOpen = false;

beforeAll(async () => {
  if (found.size === 0) return;
  here = await gatewayMachine({ greeter: { command: process.execPath, args: ["greeter.cjs"], cwd: "~" } });
  isOpen = true;
  await here.write("home/greeter.cjs", greetServer);
  await here.write("home/.gemini/trustedFolders.json", { [here.project]: "TRUST_FOLDER" });
  const settings = JSON.parse(await here.read(userFile)) as { security: object };
  // Gemini CLI reads the same file. One of its own tools has a schema that the stand-in of the API refuses.
  await here.write(userFile, {
    ...settings,
    tools: { exclude: ["activate_skill"] },
    skills: { enabled: false },
    security: { ...settings.security, auth: { selectedType: "gemini-api-key" } },
  });
  // The catalog is read before the clients ask for it.
  await here.run("tools", "greeter");
});
afterAll(async () => {
  if (isOpen) await here[Symbol.asyncDispose]();
});

/** What a client prints, on both of its streams. */
function run(name: Program, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: here.project, env: { ...here.env, NO_COLOR: "1", ...env }, timeout: 2 * minutes };
  return new Promise((resolve) => {
    const child = execFile(found.get(name) ?? name, [...args], options, (error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}${error === null ? "" : `\nexit: ${error.code}`}`),
    );
    child.stdin?.end();
  });
}

async function connect(client: string): Promise<void> {
  const { code, stderr } = await here.runWith(
    { program: { node: process.execPath, file: program } },
    "connect",
    client,
    "--yes",
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

/** A test for a program that is here. */
function testWith(
  name: Program,
  title: string,
  options: { readonly timeout: number },
  body: () => Promise<void>,
): void {
  if (found.has(name)) test(title, options, body);
}

describe("after fairlead connect", () => {
  test("clients that are absent here are named", () => {
    if (absent.length > 0) process.stderr.write(`real clients: absent, not tested: ${absent.join(", ")}\n`);
    expect(found.size + absent.length).toBe(names.length);
  });

  testWith(
    "claude",
    "Claude Code is connected, and disconnect takes the entry out of its file",
    { timeout: 3 * minutes },
    async () => {
      await connect("claude-code");
      expect(await run("claude", ["mcp", "list"])).toMatch(/^fairlead: .* serve --client claude-code .*Connected$/m);
      // Claude Code has written its own state into the file.
      expect((await here.run("disconnect", "claude-code", "--yes")).code).toBe(6);
      expect((await here.run("disconnect", "claude-code", "--yes", "--force")).code).toBe(0);
      expect(JSON.parse(await here.read("home/.claude.json"))).not.toHaveProperty("mcpServers");
      expect(await run("claude", ["mcp", "list"])).toMatch(/No MCP servers/);
    },
  );

  testWith("codex", "Codex lists it, and disconnect restores its file", { timeout: 3 * minutes }, async () => {
    const before = await here.write("home/.codex/config.toml", '# mine\nmodel = "test"\n');
    await connect("codex");
    const output = await run("codex", ["mcp", "list", "--json"]);
    expect(JSON.parse(output.slice(output.indexOf("["), output.lastIndexOf("]") + 1))).toMatchObject([
      { name: "fairlead", enabled: true, transport: { type: "stdio", args: [program, "serve", "--client", "codex"] } },
    ]);
    expect((await here.run("disconnect", "codex", "--yes")).code).toBe(0);
    expect(await here.read("home/.codex/config.toml")).toBe('# mine\nmodel = "test"\n');
    expect(before).toContain(here.home);
  });

  testWith(
    "gemini",
    "Gemini CLI is connected, and a turn calls a tool through it",
    { timeout: 4 * minutes },
    async () => {
      await connect("gemini");
      expect(await run("gemini", ["mcp", "list"])).toMatch(/fairlead: .* serve --client gemini .*- Connected/);
      await using api = await geminiApi({ answer: callsGreet });
      const env = { GOOGLE_GEMINI_BASE_URL: api.baseUrl, GEMINI_API_KEY: api.settings.apiKey };
      const args = [
        "-p",
        "greet me",
        "-m",
        "gemini-2.5-pro",
        "--approval-mode",
        "yolo",
        "--allowed-mcp-server-names",
        "fairlead",
      ];
      expect(await run("gemini", args, env)).toContain("the tool said: hello from a server");
      await expectCall("gemini");
      expect((await here.run("disconnect", "gemini", "--yes")).code).toBe(0);
    },
  );

  testWith(
    "opencode",
    "opencode is connected, and a turn calls a tool through it",
    { timeout: 4 * minutes },
    async () => {
      await using api = await openaiApi({ answer: callsGreet });
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: api.baseUrl, apiKey: "x" },
        models: { "test-model": {} },
      };
      await here.write("home/.config/opencode/opencode.json", {
        model: "test/test-model",
        small_model: "test/test-model",
        provider: { test: provider },
      });
      await connect("opencode");
      expect(await run("opencode", ["mcp", "list"])).toMatch(/fairlead .*connected/);
      expect(await run("opencode", ["run", "greet me"])).toContain("the tool said: hello from a server");
      await expectCall("opencode");
      // opencode has added "$schema" to its file.
      expect((await here.run("disconnect", "opencode", "--yes", "--force")).code).toBe(0);
      expect(JSON.parse(await here.read("home/.config/opencode/opencode.json"))).not.toHaveProperty("mcp");
    },
  );

  testWith("mcporter", "mcporter finds it in Cursor's file and lists the tools", { timeout: 3 * minutes }, async () => {
    await connect("cursor");
    const output = await run("mcporter", ["list", "--json"]);
    expect(JSON.parse(output.slice(0, output.lastIndexOf("}") + 1))).toMatchObject({
      servers: [
        {
          name: "fairlead",
          status: "ok",
          tools: expect.arrayContaining([expect.objectContaining({ name: "greet" })]),
        },
      ],
    });
    await here.run("disconnect", "cursor", "--yes");
  });

  testWith("mcp-inspector", "the Inspector lists its tools from Cursor's file", { timeout: 3 * minutes }, async () => {
    await connect("cursor");
    const config = join(here.home, ".cursor/mcp.json");
    const output = await run("mcp-inspector", [
      "--cli",
      "--config",
      config,
      "--server",
      "fairlead",
      "--method",
      "tools/list",
    ]);
    expect(output).toContain('"name": "greet"');
    await here.run("disconnect", "cursor", "--yes");
  });
});

/** A model that calls the tool `greet` under the name that the client gives it, then says what came back. */
function callsGreet({ tools, rounds }: Asked): ModelAnswer {
  const name = tools.find((tool) => tool.endsWith("greet"));
  const result = JSON.stringify(rounds.at(-1)?.[0]?.result ?? "");
  if (rounds.length > 0) return says(`the tool said: ${/hello from a server/.exec(result)?.[0] ?? result}`);
  return name === undefined ? says(`no tool among ${tools.join(", ")}`) : calls(name);
}

/** The call is in the history, with the client that asked for it. */
async function expectCall(client: string): Promise<void> {
  const { stdout } = await here.run("history", "--json");
  expect(stdout).toContain(`"client": "${client}"`);
}
