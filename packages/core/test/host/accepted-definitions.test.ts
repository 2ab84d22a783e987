import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type Host, ToolConfirmationOutcome } from "../../src/index.ts";

const inputSchema = { type: "object" };
const names = Array.from({ length: 1_100 }, (_, at) => `other${at}`);

interface Run {
  readonly description: string;
  readonly entry?: object;
  readonly others?: readonly string[];
}

/** A host of another run, connected to a server of which every call is allowed. */
async function open(folder: TemporaryFolder, { description, entry = {}, others = [] }: Run): Promise<Host> {
  const list = [{ name: "pay", description }, ...others.map((name) => ({ name }))];
  const file = await folder.write(
    "list.json",
    list.map((tool) => ({ ...tool, inputSchema })),
  );
  const s = { ...stdioServer("counted", join(folder.path, "notes"), file), trust: true, ...entry };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createHost({ environment, recover: false, trust: true });
  await host.start();
  return host;
}

describe("what a person knows of a tool does not hang on", () => {
  test.each<readonly [string, Partial<Run>, Partial<Run>]>([
    ["what its variables stand for", { entry: { env: { REGION: "a" } } }, { entry: { env: { REGION: "b" } } }],
    ["how patient we are", {}, { entry: { timeout: 5_000 } }],
    ["how many others there are, or were", { others: names }, { others: [] }],
  ])("%s", async (_, before, after) => {
    await using folder = await temporaryFolder();
    {
      await using host = await open(folder, { description: "Pays.", ...before });
      await host.call("s", "pay");
    }
    await using host = await open(folder, { description: "Pays twice.", ...after });
    await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "changed" });
  });

  test("the catalogs that are remembered", async () => {
    await using folder = await temporaryFolder();
    {
      await using host = await open(folder, { description: "Pays." });
      await host.call("s", "pay");
    }
    await rm(join(folder.path, "home/.fairlead/catalogs"), { recursive: true });
    await using host = await open(folder, { description: "Pays twice." });
    await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "changed" });
    expect(await host.changeOf("s", "pay")).toEqual([{ member: "definition", after: expect.any(String) }]);
  });
});

test("two definitions that were both accepted are asked about no more", async () => {
  await using folder = await temporaryFolder();
  for (const [description, acceptChanged] of [
    ["Pays.", false],
    ["Pays you.", true],
    ["Pays.", false],
    ["Pays you.", false],
  ] as const) {
    await using host = await open(folder, { description });
    await host.call("s", "pay", {}, { acceptChanged });
  }
});

test("a change is shown beside the definition that was accepted last, also if another host that runs saved the change", async () => {
  await using folder = await temporaryFolder();
  {
    await using lasting = await open(folder, { description: "Pays." });
    await lasting.call("s", "pay");
    {
      await using other = await open(folder, { description: "Pays you." });
      await other.call("s", "pay", {}, { acceptChanged: true });
    }
    await lasting.stop(["s"]);
    await folder.write("list.json", [{ name: "pay", description: "Pays twice.", inputSchema }]);
    await lasting.start();
  }
  await using host = await open(folder, { description: "Pays twice." });
  expect(await host.changeOf("s", "pay")).toEqual([
    { member: "description", before: "Pays you.", after: "Pays twice." },
  ]);
});

test("what is written while a host runs counts from the next call on", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, { description: "Pays." });
  await host.call("s", "pay");
  const deny = '[[rule]]\nmcpName = "s"\ndecision = "deny"\npriority = 1\n';
  await folder.write("home/.gemini/policies/late.toml", deny);
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "denied" });
  await folder.write("home/.gemini/policies/late.toml", `${deny}modes = ["plan"]\n`);
  await host.call("s", "pay");
});

test("the rule that decides is among those that matched, and not twice", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, { description: "Pays.", entry: { trust: false } });
  const details = await host.toolRegistry.find("s", "pay")?.shouldConfirmExecute({});
  if (!details) throw new Error("not asked");
  await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysTool);
  const { decision, matching } = await host.explain("s", "pay");
  expect(decision.rule.origin.source).toBe("answer");
  expect(matching.filter((rule) => rule === decision.rule)).toHaveLength(1);
  expect(matching.filter(({ origin }) => origin.source === "answer")).toHaveLength(1);
});

test("definitions that a server listed just before it was replaced are saved", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, { description: "Pays." });
  const file = await folder.write("other.json", [{ name: "pay", description: "Pays twice.", inputSchema }]);
  const s = { ...stdioServer("counted", join(folder.path, "notes"), file), trust: true };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  expect(await host.reload()).toMatchObject({ replaced: ["s"] });
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "changed" });
});

test("definitions that no request used are saved when the host closes", async () => {
  await using folder = await temporaryFolder();
  {
    await using host = await open(folder, { description: "Pays." });
    await host.stop(["s"]);
  }
  await using host = await open(folder, { description: "Pays twice." });
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "changed" });
});
