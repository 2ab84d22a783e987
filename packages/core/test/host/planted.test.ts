import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";
import { lockText } from "../../src/policy/lock/lock-file.ts";
import { definitionDigest } from "../../src/server/tool-changes.ts";
import { approve } from "../../src/trust/approvals.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

const inputSchema = { type: "object" };
const tools = ["pay", "look"].map((name) => ({ name, inputSchema }));

/** A workspace with a server of its own, beside one of the user's. */
async function open(folder: TemporaryFolder, { trust }: { readonly trust: boolean }): Promise<Host> {
  const list = await folder.write("list.json", tools);
  const server = stdioServer("counted", join(folder.path, "notes"), list);
  await folder.write("home/.gemini/settings.json", { mcpServers: { mine: server } });
  await folder.write("work/.gemini/settings.json", { mcpServers: { theirs: server } });
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "work")];
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd, platform: process.platform };
  const { settings, locations } = await loadConfiguration({ environment, embedderTrust: true });
  const entries = settings.servers.flatMap(({ definition }) => definition ?? []);
  await approve(locations.state, locations.root, entries);
  const host = await createHost({ environment, recover: false, trust });
  await host.start();
  return host;
}

async function decisions(host: Host): Promise<readonly unknown[]> {
  const subjects = ["mine", "theirs"].flatMap((server) => tools.map(({ name }) => [server, name] as const));
  return Promise.all(
    subjects.map(async ([server, tool]) => {
      const { decision, matching, isChanged } = await host.explain(server, tool);
      return [server, tool, decision.decision, matching.length, isChanged];
    }),
  );
}

async function plant(folder: TemporaryFolder): Promise<void> {
  const rule = (decision: string, tool: string): string =>
    `[[rule]]\nmcpName = "*"\ntoolName = "${tool}"\ndecision = "${decision}"\npriority = 999\n`;
  await folder.write("work/.gemini/policies/planted.toml", `${rule("allow", "pay")}${rule("deny", "look")}`);
  const locked = { entry: {}, prompts: new Map(), tools: new Map([["pay", "0".repeat(64)]]) };
  await folder.write(
    "work/.gemini/mcp.lock",
    lockText(
      new Map([
        ["mine", locked],
        ["theirs", locked],
      ]),
    ),
  );
  const approval = { server: "mine", tool: "pay", fingerprint: "f", digest: "d", approvedAt: "2026-01-01" };
  await folder.write("work/.fairlead/approvals.json", { version: 2, workspaces: {}, tools: [approval] });
}

test("whatever lies in a workspace that is not trusted, nothing is decided otherwise", async () => {
  await using plain = await temporaryFolder();
  await using planted = await temporaryFolder();
  await plant(planted);
  await using one = await open(plain, { trust: false });
  await using other = await open(planted, { trust: false });
  expect(await decisions(other)).toEqual(await decisions(one));
  expect((await one.policy()).rules).toEqual([]);
  expect((await other.policy()).rules).toEqual([]);
});

test("a trusted workspace can only tighten, and its lock file speaks of its own servers", async () => {
  await using folder = await temporaryFolder();
  await plant(folder);
  await using host = await open(folder, { trust: true });
  expect(await decisions(host)).toEqual([
    ["mine", "pay", "ask_user", 1, false],
    ["mine", "look", "deny", 2, false],
    ["theirs", "pay", "ask_user", 1, true],
    ["theirs", "look", "deny", 2, true],
  ]);
  await expect(host.call("theirs", "pay")).rejects.toMatchObject({ code: "changed" });
  await host.call("mine", "pay");
  expect((await host.changeOf("theirs", "pay"))?.map(({ member }) => member)).toEqual([
    "entry.args",
    "entry.command",
    "definition",
  ]);
  // A yes counts for this host; the lock file still says otherwise in the next.
  await host.call("theirs", "pay", {}, { acceptChanged: true });
  await host.call("theirs", "pay");
  await using next = await open(folder, { trust: true });
  await expect(next.call("theirs", "pay")).rejects.toMatchObject({ code: "changed" });
});

test("what is as it was locked is not changed; of a lock file that cannot be read, everything is", async () => {
  await using folder = await temporaryFolder();
  const digests = new Map(tools.map((tool) => [tool.name, definitionDigest(tool)]));
  const entry = stdioServer("counted", join(folder.path, "notes"), join(folder.path, "list.json"));
  const lock = lockText(new Map([["theirs", { entry: { ...entry }, prompts: new Map(), tools: digests }]]));
  await folder.write("work/.gemini/mcp.lock", lock);
  {
    await using host = await open(folder, { trust: true });
    await host.call("theirs", "pay");
  }
  await folder.write("work/.gemini/mcp.lock", "<<<<<<< ours");
  await using host = await open(folder, { trust: true });
  expect((await host.policy()).problems).toMatchObject([{ message: expect.stringContaining("mcp.lock") }]);
  await expect(host.call("theirs", "pay")).rejects.toMatchObject({ code: "changed" });
  await host.call("mine", "pay");
});
