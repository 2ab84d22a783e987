import { chmod, lstat, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ClientEntry, fromForeignEntry, isOwnServer } from "@fairlead/core/settings/own-server";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { clientNames, clients, toForeignEntry } from "../../src/clients/client.ts";
import { openClientText } from "../../src/clients/client-text.ts";
import {
  type ConnectPlan,
  planConnect,
  planDisconnect,
  writeConnect,
  writeDisconnect,
} from "../../src/clients/connect-client.ts";
import { type Receipt, ReceiptStore } from "../../src/clients/receipts.ts";

const entry = { command: "/usr/bin/node", args: ["/usr/bin/fairlead", "serve", "--client", "cursor"] };
const text = '{ "mcpServers": {} }';

/** A file of Cursor in a folder of its own. */
async function scene(content: string = text) {
  const folder = await temporaryFolder();
  const file = join(folder.path, "client", "mcp.json");
  await folder.write("client/.keep", "");
  if (content !== "none") await writeFile(file, content);
  const receipts = new ReceiptStore(join(folder.path, "state"));
  const plan = (): Promise<ConnectPlan> => planConnect({ client: "cursor", file, entry, move: [] }, receipts);
  return { ...folder, file, receipts, plan, content: () => readFile(file, "utf8") };
}

async function receiptOf(receipts: ReceiptStore): Promise<Receipt> {
  const [receipt] = await receipts.list();
  if (receipt === undefined) throw new Error("there is no receipt");
  return receipt;
}

async function undo(receipts: ReceiptStore): Promise<string> {
  const receipt = await receiptOf(receipts);
  const plan = await planDisconnect(receipt, receipts);
  await writeDisconnect(receipt, plan, receipts);
  return plan.kind;
}

describe("writing", () => {
  test("of several at once one writes, the others see that the file has changed, and undo restores it", async () => {
    await using here = await scene();
    const plans = await Promise.all(Array.from({ length: 5 }, here.plan));
    const outcomes = await Promise.allSettled(plans.map((plan) => writeConnect(plan, here.receipts)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "busy" });
    expect((await here.content()).split('"fairlead"')).toHaveLength(2);
    expect(await undo(here.receipts)).toBe("restore");
    expect(await here.content()).toBe(text);
  });

  test("a file that changed after it was shown is left alone, without a receipt", async () => {
    await using here = await scene();
    const plan = await here.plan();
    await writeFile(here.file, "{}");
    await expect(writeConnect(plan, here.receipts)).rejects.toMatchObject({ code: "busy", next: "Try again." });
    expect(await here.content()).toBe("{}");
    expect(await here.receipts.list()).toEqual([]);
  });

  test("a read-only file is refused", async () => {
    await using here = await scene();
    await chmod(here.file, 0o444);
    await expect(writeConnect(await here.plan(), here.receipts)).rejects.toThrow("it is marked as read-only");
    expect(await here.receipts.list()).toEqual([]);
  });

  test("a file that connect has written already is not written again, and its receipt stays", async () => {
    await using here = await scene();
    expect(await writeConnect(await here.plan(), here.receipts)).toBe("written");
    const receipt = await receiptOf(here.receipts);
    expect(await writeConnect(await here.plan(), here.receipts)).toBe("unchanged");
    expect(await here.receipts.list()).toEqual([receipt]);
    expect(await here.receipts.textBefore(receipt)).toEqual({ text });
  });

  test("a second connect that fails leaves the receipt of the first", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    const receipt = await receiptOf(here.receipts);
    const other = { ...entry, args: [...entry.args, "--quiet"] };
    const plan = await planConnect({ client: "cursor", file: here.file, entry: other, move: [] }, here.receipts);
    expect(plan).toMatchObject({ before: text, moved: [], earlier: receipt });
    await chmod(here.file, 0o444);
    await expect(writeConnect(plan, here.receipts)).rejects.toThrow("it is marked as read-only");
    expect(await here.receipts.list()).toEqual([receipt]);
    expect(await here.receipts.textBefore(receipt)).toEqual({ text });
  });

  test("a receipt has no token, and lists the folders that connect created", async () => {
    await using here = await scene();
    const file = join(here.path, "a", "b", "mcp.json");
    const headers = { Authorization: "Bearer token" };
    const form = { url: "http://127.0.0.1:1/mcp", headers, http_headers: headers };
    const plan = await planConnect({ client: "cursor", file, entry: form, move: [] }, here.receipts);
    expect(await writeConnect(plan, here.receipts)).toBe("written");
    expect(await receiptOf(here.receipts)).toMatchObject({
      client: "cursor",
      file,
      before: null,
      entry: { url: "http://127.0.0.1:1/mcp" },
      folders: [join(here.path, "a"), join(here.path, "a", "b")],
    });
    expect(JSON.stringify(await here.receipts.list())).not.toContain("token");
    expect(await undo(here.receipts)).toBe("restore");
    expect((await readdir(here.path)).sort()).toEqual(["client", "state"]);
  });

  test("a folder that another program uses stays when its file is removed", async () => {
    await using here = await scene();
    const file = join(here.path, "a", "b", "mcp.json");
    await writeConnect(await planConnect({ client: "cursor", file, entry, move: [] }, here.receipts), here.receipts);
    await here.write("a/other", "");
    expect(await undo(here.receipts)).toBe("restore");
    expect(await readdir(join(here.path, "a"))).toEqual(["other"]);
  });

  test("a server of another program named fairlead is left alone", async () => {
    await using here = await scene('{ "mcpServers": {\n "fairlead": { "command": "other" } } }');
    await expect(here.plan()).rejects.toMatchObject({
      code: "usage",
      message: `${here.file}:2:2: Cursor has another server named "fairlead"; the file was not changed`,
      next: "Rename or remove that server, then try again.",
    });
  });

  test("the servers that a first connect moved come back after a second one", async () => {
    await using here = await scene('{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } } }');
    const plan = (move: readonly string[]) =>
      planConnect({ client: "cursor", file: here.file, entry, move }, here.receipts);
    await writeConnect(await plan(["a"]), here.receipts);
    await writeFile(here.file, (await here.content()).replace('"b": { "command": "b" }', '"b": { "command": "c" }'));
    const second = await plan(["b", "a"]);
    expect(second.moved).toEqual(["a", "b"]);
    expect(JSON.parse(second.before ?? "")).toEqual({ mcpServers: { a: { command: "a" }, b: { command: "c" } } });
    expect(JSON.parse(second.after)).toEqual({ mcpServers: { fairlead: entry } });
  });

  test("without Fairlead's entry, the file's text is the one that disconnect restores", async () => {
    await using here = await scene('{ "mcpServers": { "a": { "command": "a" } } }');
    const plan = (move: readonly string[]) =>
      planConnect({ client: "cursor", file: here.file, entry, move }, here.receipts);
    await writeConnect(await plan(["a"]), here.receipts);
    await writeFile(here.file, text);
    expect(await plan([])).toMatchObject({ before: text, moved: [] });
  });

  test("an entry of Fairlead without a receipt is left out of the text that disconnect restores", async () => {
    await using here = await scene(
      JSON.stringify({ mcpServers: { fairlead: { ...entry, args: ["fairlead", "serve"] } } }),
    );
    const plan = await here.plan();
    expect(plan).toMatchObject({ before: '{"mcpServers":{}}', moved: [], earlier: undefined });
    expect(JSON.parse(plan.after)).toEqual({ mcpServers: { fairlead: entry } });
  });

  test("a file that is not text, and a folder below a file, are refused", async () => {
    await using here = await scene();
    await writeFile(here.file, Buffer.from([0xff, 0x00, 0xff]));
    await expect(here.plan()).rejects.toMatchObject({
      code: "internal",
      message: `${here.file} cannot be written: it is not valid UTF-8 text; Fairlead did not change it`,
    });
    const file = join(here.file, "below", "mcp.json");
    const plan = await planConnect({ client: "cursor", file, entry, move: [] }, here.receipts);
    await expect(writeConnect(plan, here.receipts)).rejects.toThrow("a part of its path is a file, not a folder");
    expect(await here.receipts.list()).toEqual([]);
  });

  test("a link to a file that is not there yet gets its file, and loses it again", async () => {
    await using here = await scene("none");
    await symlink(join(here.path, "dotfile.json"), here.file);
    await writeConnect(await here.plan(), here.receipts);
    expect(await readdir(here.path)).toContain("dotfile.json");
    expect(await undo(here.receipts)).toBe("restore");
    expect(await readdir(here.path)).not.toContain("dotfile.json");
    expect((await lstat(here.file)).isSymbolicLink()).toBe(true);
  });
});

describe("undoing", () => {
  test("after a crash between receipt and file there is nothing to restore", async () => {
    await using here = await scene();
    const plan = await here.plan();
    await writeConnect(plan, here.receipts);
    await writeFile(here.file, text);
    expect(await undo(here.receipts)).toBe("gone");
    expect(await here.content()).toBe(text);
    expect(await here.receipts.list()).toEqual([]);
  });

  test("a stored text that is not the one before is never written", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    const [name = ""] = (await readdir(join(here.path, "state/clients"))).filter((file) => file.endsWith(".before"));
    await writeFile(join(here.path, "state/clients", name), '{ "mcpServers": { "planted": { "command": "evil" } } }');
    const plan = await planDisconnect(await receiptOf(here.receipts), here.receipts);
    expect(plan).toMatchObject({ kind: "changed", wrote: undefined });
    expect("after" in plan && JSON.parse(plan.after)).toEqual({ mcpServers: {} });
  });

  test("a broken receipt counts as none", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    const [name = ""] = (await readdir(join(here.path, "state/clients"))).filter((file) => file.endsWith(".json"));
    await writeFile(join(here.path, "state/clients", name), '{ "client": "cursor", "file": 1 }');
    expect(await here.receipts.list()).toEqual([]);
    // The entry is recognised by its words, so it can be connected and disconnected again.
    await writeConnect(await here.plan(), here.receipts);
    expect(await undo(here.receipts)).toBe("restore");
    expect(await here.content()).not.toContain("fairlead");
  });

  test("a file that the user has deleted is not created again", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    await rm(here.file);
    expect(await undo(here.receipts)).toBe("gone");
    expect(await readdir(join(here.path, "client"))).toEqual([".keep"]);
    expect(await here.receipts.list()).toEqual([]);
  });

  test("a file that changed after the plan was made is left alone, and its receipt stays", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    const receipt = await receiptOf(here.receipts);
    const plan = await planDisconnect(receipt, here.receipts);
    await writeFile(here.file, "{}");
    await expect(writeDisconnect(receipt, plan, here.receipts)).rejects.toMatchObject({
      code: "busy",
      message: `${here.file} was changed by another program meanwhile; Fairlead did not change it`,
      next: "Try again.",
    });
    expect(await here.content()).toBe("{}");
    expect(await here.receipts.list()).toEqual([receipt]);
  });

  test("a file that changed after connect loses only Fairlead's entry", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    const wrote = await here.content();
    const changed = wrote.replace("{", '{ "other": 1,');
    await writeFile(here.file, changed);
    const plan = await planDisconnect(await receiptOf(here.receipts), here.receipts);
    expect(plan).toMatchObject({ kind: "changed", text: changed, wrote });
    expect(await undo(here.receipts)).toBe("changed");
    expect(JSON.parse(await here.content())).toEqual({ other: 1, mcpServers: {} });
  });

  test("the text that connect wrote is reconstructed with the token, which is stored only in the file", async () => {
    await using here = await scene();
    const form = { url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer token" } };
    const plan = await planConnect({ client: "cursor", file: here.file, entry: form, move: [] }, here.receipts);
    await writeConnect(plan, here.receipts);
    const changed = plan.after.replace("{", '{ "other": 1,');
    await writeFile(here.file, changed);
    expect(await planDisconnect(await receiptOf(here.receipts), here.receipts)).toMatchObject({ wrote: plan.after });
    await writeFile(here.file, changed.replace("token", "other"));
    expect(await planDisconnect(await receiptOf(here.receipts), here.receipts)).toMatchObject({ wrote: undefined });
  });

  test("the servers that connect moved come back although the user has removed Fairlead's entry", async () => {
    await using here = await scene('{ "mcpServers": { "a": { "command": "a" } } }');
    const request = { client: "cursor", file: here.file, entry, move: ["a"] } as const;
    await writeConnect(await planConnect(request, here.receipts), here.receipts);
    await writeFile(here.file, text);
    expect(await undo(here.receipts)).toBe("changed");
    expect(JSON.parse(await here.content())).toEqual({ mcpServers: { a: { command: "a" } } });
  });

  test("a file that another program has removed is not made again", async () => {
    await using here = await scene();
    await writeConnect(await here.plan(), here.receipts);
    await writeFile(here.file, "");
    expect(await undo(here.receipts)).toBe("gone");
    expect(await here.content()).toBe("");
  });
});

describe.each(clientNames)("an entry of %s", (client) => {
  const stdio: ClientEntry = { kind: "stdio", command: "/n", args: ["/fairlead.cjs", "serve"], env: { A: "1" } };
  const http: ClientEntry = { kind: "http", url: "http://127.0.0.1:4100/mcp", headers: { Authorization: "Bearer x" } };

  test("is read as it was written, and known as Fairlead's own", () => {
    for (const written of [stdio, http]) {
      const form = toForeignEntry(client, written);
      expect(form === undefined).toBe(client === "claude-desktop" && written === http);
      if (form === undefined) continue;
      expect(fromForeignEntry(form)).toEqual(written);
      expect(isOwnServer("fairlead", form)).toBe(true);
      expect(isOwnServer("other", form)).toBe(written === stdio);
    }
  });
});

test.each([
  ["claude-code", "mcpServers", "Claude Code", ["claude"], "json"],
  ["claude-desktop", "mcpServers", "Claude Desktop", ["claude-desktop"], "json"],
  ["codex", "mcp_servers", "Codex", ["codex"], "toml"],
  ["gemini", "mcpServers", "Gemini CLI", ["gemini"], "jsonc"],
  ["cursor", "mcpServers", "Cursor", ["cursor", "cursor-agent"], "jsonc"],
  ["vscode", "servers", "VS Code", ["code"], "jsonc"],
  ["windsurf", "mcpServers", "Windsurf", ["windsurf"], "jsonc"],
  ["zed", "context_servers", "Zed", ["zed", "zeditor"], "jsonc"],
  ["opencode", "mcp", "opencode", ["opencode"], "jsonc"],
  ["antigravity", "mcpServers", "Antigravity", ["agy", "antigravity"], "json"],
  ["copilot-cli", "mcpServers", "GitHub Copilot CLI", ["copilot"], "jsonc"],
  ["kiro", "mcpServers", "Kiro", ["kiro", "kiro-cli"], "json"],
  ["cline", "mcpServers", "Cline", [], "json"],
  ["cline-cli", "mcpServers", "Cline CLI", ["cline"], "json"],
  ["kilo", "mcp", "Kilo", ["kilo"], "jsonc"],
  ["goose", "extensions", "goose", ["goose"], "yaml"],
  ["grok", "mcp_servers", "Grok Build", ["grok"], "toml"],
  ["kimi", "mcpServers", "Kimi Code", ["kimi"], "json"],
  ["mcporter", "mcpServers", "mcporter", ["mcporter"], "jsonc"],
  ["pi", "mcpServers", "Pi", ["pi"], "jsonc"],
] as const)("%s has its servers under %s", (client, key, title, commands, syntax) => {
  expect(clients[client]).toMatchObject({ key, title, commands, syntax });
});

test("the form of an entry is the one that its client reads", () => {
  const stdio: ClientEntry = { kind: "stdio", command: "node", args: ["x"], env: { A: "1" } };
  const http: ClientEntry = { kind: "http", url: "http://h", headers: { B: "2" } };
  const plain = { command: "node", args: ["x"], env: { A: "1" } };
  const goose = { name: "fairlead", description: "Fairlead", enabled: true, timeout: 300 };
  expect(Object.fromEntries(clientNames.map((client) => [client, toForeignEntry(client, stdio)]))).toEqual({
    "claude-code": { type: "stdio", ...plain },
    "claude-desktop": plain,
    codex: plain,
    gemini: plain,
    cursor: plain,
    vscode: { type: "stdio", ...plain },
    windsurf: plain,
    zed: plain,
    opencode: { type: "local", command: ["node", "x"], environment: { A: "1" }, enabled: true },
    antigravity: plain,
    "copilot-cli": { type: "stdio", ...plain, tools: ["*"] },
    kiro: plain,
    cline: plain,
    "cline-cli": plain,
    kilo: { type: "local", command: ["node", "x"], environment: { A: "1" }, enabled: true },
    goose: { ...goose, type: "stdio", cmd: "node", args: ["x"], envs: { A: "1" } },
    grok: plain,
    kimi: { transport: "stdio", ...plain },
    mcporter: plain,
    pi: plain,
  });
  const headers = { B: "2" };
  expect(Object.fromEntries(clientNames.map((client) => [client, toForeignEntry(client, http)]))).toEqual({
    "claude-code": { type: "http", url: "http://h", headers },
    "claude-desktop": undefined,
    codex: { url: "http://h", http_headers: headers },
    gemini: { url: "http://h", type: "http", headers },
    cursor: { url: "http://h", headers },
    vscode: { type: "http", url: "http://h", headers },
    windsurf: { serverUrl: "http://h", headers },
    zed: { url: "http://h", headers },
    opencode: { type: "remote", url: "http://h", headers, enabled: true },
    antigravity: { serverUrl: "http://h", headers },
    "copilot-cli": { type: "http", url: "http://h", headers, tools: ["*"] },
    kiro: { url: "http://h", headers },
    cline: { type: "streamableHttp", url: "http://h", headers },
    "cline-cli": { type: "streamableHttp", url: "http://h", headers },
    kilo: { type: "remote", url: "http://h", headers, enabled: true },
    goose: { ...goose, type: "streamable_http", uri: "http://h", headers },
    grok: { url: "http://h", headers },
    kimi: { transport: "http", url: "http://h", headers },
    mcporter: { url: "http://h", headers },
    pi: { url: "http://h", headers },
  });
  expect(toForeignEntry("zed", { ...stdio, env: {} })).toEqual({ command: "node", args: ["x"] });
});

test.each([
  ["the only table", "[mcp_servers.a]\ncommand = 'x'\n", ""],
  ["the first table", "[mcp_servers.a]\ncommand = 'x'\n\n[other]\nb = 1\n", "[other]\nb = 1\n"],
  ["the last table", "[other]\nb = 1\n\n[mcp_servers.a]\ncommand = 'x'\n", "[other]\nb = 1\n"],
  ["a table without an empty line before it", "b = 1\n[mcp_servers.a]\ncommand = 'x'\n", "b = 1\n"],
  ["a table with another one inside", "[mcp_servers.a]\ncommand = 'x'\n[mcp_servers.a.env]\nc = 'd'\n", ""],
  ["no table of that name", "[mcp_servers.b]\ncommand = 'x'\n", "[mcp_servers.b]\ncommand = 'x'\n"],
])("removing %s from a TOML file leaves no empty line behind", async (_, before, after) => {
  expect((await openClientText("codex", "/config.toml", before)).remove("a")).toBe(after);
});
