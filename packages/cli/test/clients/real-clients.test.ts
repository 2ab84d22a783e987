import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import {
  type Asked,
  anthropicApi,
  calls,
  geminiApi,
  heldUntil,
  type ModelAnswer,
  openaiApi,
  says,
  scaled,
  stdioServer,
  until,
} from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { greetServer } from "../support/connected.ts";
import { type GatewayMachine, gatewayMachine } from "../support/gateway-client.ts";
import { userFile } from "../support/machine.ts";
import { program } from "../support/process.ts";
import { openProgram } from "../support/terminal.ts";

/**
 * Programs that people use, each with the entry that `fairlead connect` wrote for it. They are searched for in the folder
 * that FAIRLEAD_TEST_CLIENTS names, for example `node_modules/.bin` of a folder where they were installed, then in PATH.
 */
const folders = [process.env["FAIRLEAD_TEST_CLIENTS"] ?? "", ...(process.env["PATH"] ?? "").split(delimiter)];
const names = [
  "claude",
  "codex",
  "gemini",
  "opencode",
  "copilot",
  "grok",
  "kilo",
  "mcporter",
  "mcp-inspector",
] as const;
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
  const settings = JSON.parse(await here.read(userFile)) as { mcpServers: { greeter: object }; security: object };
  // Gemini CLI reads the same file. One of its own tools has a schema that the stand-in of the API refuses.
  await here.write(userFile, {
    ...settings,
    // Without a rule, Fairlead asks about each call.
    mcpServers: { greeter: { ...settings.mcpServers.greeter, trust: false } },
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

  testWith(
    "claude",
    "claude -p, which cannot ask its user, is told what to do next when a call is asked about or denied",
    { timeout: 6 * minutes },
    async () => {
      await connect("claude-code");
      await using api = await anthropicApi({ answer: callsGreet });
      const env = {
        ANTHROPIC_BASE_URL: api.baseUrl,
        ANTHROPIC_API_KEY: api.settings.apiKey,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const args = ["-p", "greet me", "--model", "test-model", "--allowedTools", "mcp__fairlead__greet"];
      await expectNextSteps("claude-code", () => run("claude", args, env));
      expect((await here.run("disconnect", "claude-code", "--yes", "--force")).code).toBe(0);
    },
  );

  testWith(
    "codex",
    "codex exec, which cannot ask its user, is told what to do next when a call is asked about or denied",
    { timeout: 6 * minutes },
    async () => {
      await using api = await openaiApi({ answer: callsGreet });
      await connectCodex(api.baseUrl);
      // Otherwise Codex itself refuses the call.
      const args = [
        "exec",
        "--skip-git-repo-check",
        "-c",
        'mcp_servers.fairlead.default_tools_approval_mode="approve"',
      ];
      await expectNextSteps("codex", () => run("codex", [...args, "greet me"]));
      expect((await here.run("disconnect", "codex", "--yes")).code).toBe(0);
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
    "codex",
    "Codex with a user at its terminal asks in a form, and the user's yes runs the call",
    { timeout: 4 * minutes },
    async () => {
      await using api = await openaiApi({ answer: callsGreet });
      await connectCodex(api.baseUrl);
      await decide("ask_user", "codex");
      await using terminal = openProgram(here, found.get("codex") ?? "", ...callsWithoutAsking);
      // Codex waits until the terminal says where its cursor is.
      terminal.type("\x1b[1;1R");
      await terminal.until(/Ask Codex/);
      // Until Codex has the list of tools, its model cannot call one.
      for (let turn = 1; !/Fairlead asks/.test(terminal.screen()); turn += 1) {
        terminal.type("greet me");
        await terminal.until(/› greet me/);
        terminal.type("\r");
        await terminal.until(new RegExp(`Fairlead asks|(no tool among[\\s\\S]*){${turn}}`));
      }
      await terminal.until(/may codex run greeter\.greet\?[\s\S]*enter to submit/);
      // Codex ignores keys in the first moments of a form.
      await until(() => {
        terminal.type("2");
        return !/› 1\. no/.test(terminal.rows().join("\n"));
      });
      terminal.type("\r");
      await terminal.until(/the tool said: hello from a server/);
      expect((await here.run("history", "--json", "--client", "codex")).stdout).toContain('"answeredIn": "form"');
      await decide(undefined, "codex");
      expect((await here.run("disconnect", "codex", "--yes", "--force")).code).toBe(0);
    },
  );

  testWith(
    "gemini",
    "Gemini CLI is connected, and is told what to do next when a call is asked about or denied",
    { timeout: 6 * minutes },
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
      await expectNextSteps("gemini", () => run("gemini", args, env));
      expect((await here.run("disconnect", "gemini", "--yes")).code).toBe(0);
    },
  );

  testWith(
    "opencode",
    "opencode is told what to do next when a call is asked about or denied, and the background host outlives it",
    { timeout: 6 * minutes },
    async () => {
      await using api = await openaiApi({ answer: callsGreet });
      await connectOpencode(api.baseUrl);
      expect(await run("opencode", ["mcp", "list"])).toMatch(/fairlead .*connected/);
      // opencode starts the host, and ends all its descendants when it exits.
      await here.run("daemon", "stop");
      await expectNextSteps("opencode", () => run("opencode", ["run", "greet me"]));
      expect(await here.hostPid()).toBeDefined();
      // opencode has added "$schema" to its file.
      expect((await here.run("disconnect", "opencode", "--yes", "--force")).code).toBe(0);
      expect(JSON.parse(await here.read("home/.config/opencode/opencode.json"))).not.toHaveProperty("mcp");
    },
  );

  for (const [name, client, args, shows] of [
    ["copilot", "copilot-cli", ["mcp", "get", "fairlead"], /Status: Enabled[\s\S]*serve --client copilot-cli/],
    ["grok", "grok", ["mcp", "doctor"], /handshake OK[\s\S]*1 healthy, 0 failing/],
    // Kilo adds "$schema" and its permissions to a file that it has not seen yet.
    ["kilo", "kilo", ["mcp", "list"], /fairlead .*connected/],
    ["mcporter", "mcporter", ["list"], /fairlead .*tool/],
  ] as const)
    testWith(name, `${client} shows the entry, and disconnect removes it`, { timeout: 3 * minutes }, async () => {
      await connect(client);
      expect(await run(name, args)).toMatch(shows);
      expect((await here.run("disconnect", client, "--yes", "--force")).code).toBe(0);
      expect(await run(name, args)).not.toMatch(shows);
    });

  testWith(
    "opencode",
    "opencode's exit leaves the open calls of other clients alone, although opencode started the background host",
    { timeout: 10 * minutes },
    async () => {
      const before = await here.read(userFile);
      const settings = JSON.parse(before) as { readonly mcpServers: object };
      // Gemini's API would refuse the schemas of this server.
      const counted = { ...stdioServer("counted"), trust: true };
      await here.write(userFile, { ...settings, mcpServers: { ...settings.mcpServers, counted } });
      await here.run("mcp", "list", "--strict");
      for (let exits = 0; exits < scaled(12, 2); exits += 1) {
        await here.run("daemon", "stop");
        await using api = await openaiApi({ answer: () => says("done") });
        let answerModel = (): void => {};
        const moment = new Promise<void>((resolve) => {
          answerModel = resolve;
        });
        api.interrupt("chat", heldUntil(moment), 100);
        await connectOpencode(api.baseUrl);
        const running = run("opencode", ["run", "say done"]);
        // Its model is asked with the tools of its MCP servers: the host runs.
        await until(() => api.seen.some(({ body }) => JSON.stringify(body).includes("greet")));
        const pid = await here.hostPid();
        const other = await here.client();
        const call = other.call("ask", { method: "elicitation/create", params: { message: "?", requestedSchema: {} } });
        const { id } = await other.told("elicitation/create");
        answerModel();
        expect(await running).toContain("done");
        other.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { action: "decline" } })}\n`);
        expect(JSON.stringify(await call)).toContain("decline");
        expect([exits, await here.hostPid()]).toEqual([exits, pid]);
        await other.end();
        expect((await here.run("disconnect", "opencode", "--yes", "--force")).code).toBe(0);
      }
      await here.write(userFile, before);
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

/** What the model of a client reads when its call is asked about, denied and allowed: always the next step, and it works. */
async function expectNextSteps(client: string, turn: () => Promise<string>): Promise<void> {
  const asked = await turn();
  const [, id = ""] = /To approve it, run: fairlead approvals allow (\w+)/.exec(asked) ?? [];
  const [, rule = ""] = /the user can run: fairlead (policy allow --client \S+ greeter\.greet)/.exec(asked) ?? [];
  expect(await here.run("approvals", "allow", id)).toMatchObject({ code: 0 });
  expect(await turn()).toContain("the tool said: hello from a server");
  expect((await here.run("history", "--json", "--client", client)).stdout).not.toContain('"refusal": "user"');

  // A tool that is denied whatever its arguments are is not offered to the client.
  await decide("deny", client, "argsPattern = '\\{'");
  expect(await turn()).toMatch(/greeter\.greet denied: .*decisions\.toml/);
  await decide(undefined, client);

  expect(await here.run(...rule.split(" "))).toMatchObject({ code: 0 });
  expect(await turn()).toContain("the tool said: hello from a server");
  const { stdout } = await here.run("history", "--json", "--client", client);
  expect(stdout).toContain(`"client": "${client}"`);
  await here.write("home/.gemini/policies/fairlead.toml", "");
}

/** Writes the only rule about this client's calls; undefined removes it. */
async function decide(decision: "ask_user" | "deny" | undefined, client: string, more = ""): Promise<void> {
  const rule = `[[rule]]\n${more}\nmcpName = "greeter"\ntoolName = "*"\nclient = "${client}"\ndecision = "${decision}"\npriority = 900\n`;
  await here.write("home/.gemini/policies/decisions.toml", decision === undefined ? "" : rule);
}

/** Otherwise Codex itself asks about the call, or refuses it. */
const callsWithoutAsking = ["-c", 'mcp_servers.fairlead.default_tools_approval_mode="approve"'];

/** Connects Codex, with a stand-in of its model's API. */
async function connectCodex(baseUrl: string): Promise<void> {
  const provider = `[model_providers.test]\nname = "test"\nbase_url = "${baseUrl}"\nwire_api = "responses"\n`;
  const project = `[projects."${here.project}"]\ntrust_level = "trusted"\n`;
  await here.write("home/.codex/config.toml", `model = "test-model"\nmodel_provider = "test"\n${provider}${project}`);
  await connect("codex");
}

/** Connects opencode, with a stand-in of its model's API. */
async function connectOpencode(baseUrl: string): Promise<void> {
  const options = { baseURL: baseUrl, apiKey: "x" };
  const provider = { npm: "@ai-sdk/openai-compatible", options, models: { "test-model": {} } };
  await here.write("home/.config/opencode/opencode.json", {
    model: "test/test-model",
    small_model: "test/test-model",
    provider: { test: provider },
  });
  await connect("opencode");
}
