import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clientNames, clients } from "../../src/clients/client.ts";
import { confirmationText, fittingCalls, ruleCommand } from "../../src/clients/client-rule.ts";
import { serviceUnit } from "../../src/clients/http-service.ts";
import { connectMachine, textOf } from "../support/connected.ts";
import { openTerminalHere } from "../support/terminal-here.ts";

const policyFile = "home/.gemini/policies/fairlead.toml";

describe("the rule that fits a client", () => {
  test("allows everything where the client asks, reading where it asks nobody, and is not needed where it shows questions", () => {
    const fitting = (calls: unknown) => clientNames.filter((client) => fittingCalls(client) === calls);
    expect(fitting("read-only")).toEqual(["opencode", "cline-cli", "kilo", "goose", "mcporter"]);
    expect(fitting(undefined)).toEqual(["pi"]);
    expect(fitting("all")).toEqual(clientNames.filter((client) => clients[client].asks));
  });

  test("is named with what happens without it", () => {
    const fails = "the first call of each tool fails and names the command that approves it (fairlead approvals)";
    expect(confirmationText("kiro")).toBe(
      `Kiro asks you before a call, and Fairlead asks too, but Kiro cannot show its question: without a rule, ${fails}\n  to allow all tools of all servers: fairlead policy allow --client kiro '*.*'`,
    );
    expect(confirmationText("goose")).toContain(
      `goose does not ask before a call and cannot show Fairlead's question: without a rule, ${fails}\n  to allow all tools that only read: fairlead policy allow --client goose --read-only '*.*'\n`,
    );
    expect(confirmationText("pi")).toBe(
      "Pi does not ask before a call; it shows Fairlead's question at the first call of each tool",
    );
    expect(ruleCommand("goose", "read-only", "remove")).toBe("fairlead policy remove --client goose --read-only '*.*'");
  });

  test("--allow writes it, also for a client that is connected already; the printed command removes it", async () => {
    await using here = await connectMachine();
    const first = await here.fairlead("connect", "goose", "--yes", "--allow", "read-only");
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining("Gemini CLI reads the same file") });
    expect(await textOf(here, policyFile)).toContain(
      `client = "goose"\nannotations = { readOnlyHint = true }\ndecision = "allow"\n`,
    );
    const second = await here.fairlead("connect", "goose", "--yes", "--allow", "all", "--json");
    expect(JSON.parse(second.stdout)).toMatchObject({
      clients: [
        {
          action: "unchanged",
          confirmation: {
            asks: false,
            shows: false,
            command: "fairlead policy allow --client goose --read-only '*.*'",
            written: expect.stringMatching(/fairlead\.toml:\d+$/),
          },
        },
      ],
    });
    expect((await textOf(here, policyFile))?.match(/\[\[rule\]\]/g)).toHaveLength(2);
    const remove = /^undo: fairlead (policy remove .*) '\*\.\*'$/m.exec(first.stderr)?.[1]?.split(" ") ?? [];
    expect((await here.fairlead(...remove, "*.*")).code).toBe(0);
    expect(await textOf(here, policyFile)).not.toContain("annotations");
    expect(await textOf(here, policyFile)).toContain('client = "goose"');
  });

  test("without --allow a script writes no rule, and --allow nothing says nothing about it", async () => {
    await using here = await connectMachine();
    const { stderr } = await here.fairlead("connect", "grok", "--yes");
    expect(stderr).toContain("  to allow all tools of all servers: fairlead policy allow --client grok '*.*'\n");
    const quiet = await here.fairlead("connect", "kimi", "--yes", "--allow", "nothing");
    expect(quiet.stderr).not.toContain("policy allow");
    expect(await textOf(here, policyFile)).toBeUndefined();
    expect(await here.fairlead("connect", "kimi", "--allow", "everything")).toMatchObject({ code: 2 });
  });

  test("on a terminal it is written after a yes", async () => {
    await using here = await connectMachine();
    await using terminal = openTerminalHere(here, "connect", "kiro");
    await terminal.until(/Write this\? \[y\/N\]/);
    terminal.type("y\r");
    await terminal.until(/Write this rule for Kiro[\s\S]*\[y\/N\]/);
    terminal.type("y\r");
    await terminal.until(/Kiro may call all tools/);
    expect(await terminal.exitCode).toBe(0);
    expect(await textOf(here, policyFile)).toContain('client = "kiro"\ndecision = "allow"\n');
  });
});

describe("connect --link", () => {
  test("prints links that hold the entry, and writes nothing", async () => {
    await using here = await connectMachine();
    const { code, stdout } = await here.fairlead("connect", "--link");
    expect(code).toBe(0);
    const [vscode = "", cursor = ""] = stdout.split("\n");
    const args = (client: string) => [here.entryFile, "serve", "--client", client];
    expect(JSON.parse(decodeURIComponent(vscode.replace("vscode:mcp/install?", "")))).toEqual({
      name: "fairlead",
      type: "stdio",
      command: process.execPath,
      args: args("vscode"),
    });
    const link = new URL(cursor);
    expect(`${link.protocol}//${link.host}${link.pathname}`).toBe("cursor://anysphere.cursor-deeplink/mcp/install");
    expect(link.searchParams.get("name")).toBe("fairlead");
    expect(JSON.parse(Buffer.from(link.searchParams.get("config") ?? "", "base64").toString())).toEqual({
      command: process.execPath,
      args: args("cursor"),
    });
    expect(JSON.parse((await here.fairlead("connect", "--link", "cursor", "--json")).stdout)).toMatchObject({
      links: [{ client: "cursor", link: cursor }],
    });
  });

  test("is refused for programs that open no links, and with a token", async () => {
    await using here = await connectMachine();
    expect(await here.fairlead("connect", "--link", "zed")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("zed opens no install links"),
    });
    expect(await here.fairlead("connect", "--link", "--http")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the link would contain a token"),
    });
  });
});

test("the unit of fairlead serve --http quotes its words for systemd and launchd", () => {
  const service = { command: "/opt/a b/node", args: ['x"$HOME"', "100%", "<&>"], env: { FAIRLEAD_HOME: "/ü $x" } };
  const linux = serviceUnit({ ...service, home: "/home/me", platform: "linux" });
  expect(linux).toMatchObject({
    file: "/home/me/.config/systemd/user/fairlead.service",
    start: "systemctl --user enable --now fairlead",
  });
  expect(linux?.text).toContain(
    'ExecStart="/opt/a b/node" "x\\"$$HOME\\"" "100%%" "<&>"\nEnvironment="FAIRLEAD_HOME=/ü $x"\nRestart=on-failure\n',
  );
  const mac = serviceUnit({ ...service, home: "/Users/me", platform: "darwin" });
  expect(mac?.file).toBe(join("/Users/me", "Library/LaunchAgents/fairlead.plist"));
  expect(mac?.text).toContain("    <string>&lt;&amp;&gt;</string>\n");
  expect(mac?.text).toContain("    <key>FAIRLEAD_HOME</key>\n    <string>/ü $x</string>\n");
  expect(serviceUnit({ ...service, home: "C:\\me", platform: "win32" })).toBeUndefined();
});
