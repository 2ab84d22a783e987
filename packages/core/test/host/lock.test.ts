import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";
import { type LockedServer, lockCatalog, lockText } from "../../src/policy/lock/lock-file.ts";
import type { Environment } from "../../src/settings/read/paths.ts";
import { approve } from "../../src/trust/approvals.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

const serveFile = fileURLToPath(new URL("../../../test-servers/src/programs/serve.mjs", import.meta.url));

const books = {
  instructions: "Whisper.",
  prompts: [{ name: "review", description: "Reviews a book." }],
  results: { review: { messages: [{ role: "user", content: { type: "text", text: "Review it." } }] } },
};

/** As the lock file has it; and as it is written, with what the lock file does not have. */
function entries(folder: TemporaryFolder): { readonly locked: object; readonly written: object } {
  const server = stdioServer("library", join(folder.path, "books.json"), join(folder.path, "diary"));
  return {
    locked: { ...server, env: { LIBRARY_TOKEN: "(hidden)" }, trace: "(hidden)" },
    written: { ...server, env: { LIBRARY_TOKEN: "t0ken" }, trace: { deep: [1] }, description: "Books." },
  };
}

/** A trusted workspace with a server that has prompts and instructions. */
async function open(folder: TemporaryFolder, others: object = {}): Promise<Host> {
  await folder.write("books.json", books);
  const environment = await approved(folder, { books: entries(folder).written, ...others });
  const host = await createHost({ environment, recover: false, trust: true });
  await host.start();
  return host;
}

/** Writes the workspace's servers and approves them. */
async function approved(folder: TemporaryFolder, mcpServers: object): Promise<Environment> {
  await folder.write("work/.gemini/settings.json", { mcpServers });
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "work")];
  await folder.write("home/.keep", "");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd, platform: process.platform };
  const { settings, locations } = await loadConfiguration({ environment, embedderTrust: true });
  const definitions = settings.servers.flatMap(({ definition }) => definition ?? []);
  await approve(locations.state, locations.root, definitions);
  return environment;
}

/** What `lock` would write, with what is given in its place. */
async function lockAs(folder: TemporaryFolder, change: Partial<LockedServer> | undefined): Promise<void> {
  await using host = await open(folder);
  const catalog = host.catalog("books");
  if (catalog === undefined) throw new Error("nothing is known");
  const entry = { ...entries(folder).locked };
  const server = { entry, ...lockCatalog(catalog, undefined), ...change };
  await folder.write("work/.gemini/mcp.lock", lockText(new Map(change === undefined ? [] : [["books", server]])));
}

async function told(host: Host): Promise<readonly unknown[]> {
  const change = await host.changeOf("books", "review", "prompt");
  return [change?.map(({ member }) => member), host.notes("books")];
}

const noted = (what: string): readonly object[] => [
  { server: "books", message: `differs from the lock file: ${what}; details: fairlead lock verify` },
];

describe("with a lock file", () => {
  const other = { entry: { command: "another" } };
  const members = ["entry.args", "entry.command", "entry.env.LIBRARY_TOKEN", "entry.trace.deep"];
  test.each<readonly [string, Partial<LockedServer> | undefined, readonly unknown[]]>([
    ["what is as locked is not changed, whatever its secrets are", {}, [undefined, []]],
    ["an entry", other, [members, noted(members.join(", "))]],
    [
      "a server that is not in it",
      undefined,
      [["mcp.lock", "definition"], noted("this server is not in the lock file")],
    ],
    ["instructions", { instructions: "0" }, [["instructions"], noted("instructions")]],
    ["a prompt", { prompts: new Map() }, [["definition"], noted("prompt review")]],
  ])("%s", async (_, change, expected) => {
    await using folder = await temporaryFolder();
    await lockAs(folder, change);
    await using host = await open(folder);
    expect(await told(host)).toEqual(expected);
  });

  test("a prompt that is another is refused as changed until that is wanted", async () => {
    await using folder = await temporaryFolder();
    await lockAs(folder, { prompts: new Map([["review", "0"]]) });
    await using host = await open(folder);
    const get = (confirmed: boolean): Promise<unknown> => host.getPrompt("books", "review", {}, { confirmed });
    await expect(get(false)).rejects.toMatchObject({ code: "changed" });
    expect(await get(true)).toMatchObject(books.results.review);
  });

  test("an entry that a reload changes is compared at once, also while another server still ends", async () => {
    await using folder = await temporaryFolder();
    await lockAs(folder, {});
    const script = await folder.write(
      "slow.mjs",
      `import { serve } from ${JSON.stringify(serveFile)};
      process.stdin.on("end", () => setTimeout(() => process.exit(0), 1500));
      serve({ tools: [] });`,
    );
    const slow = { command: process.execPath, args: [script] };
    await using host = await open(folder, { slow });
    const { written } = entries(folder);
    await approved(folder, { books: { ...written, cwd: folder.path }, slow: { ...slow, env: { A: "b" } } });
    const replaced = new Promise((resolve) => host.on("servers", resolve));
    const reloading = host.reload();
    await replaced;
    await expect(host.getPrompt("books", "review")).rejects.toMatchObject({ code: "changed" });
    await reloading;
  });
});
