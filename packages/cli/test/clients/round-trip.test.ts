import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { scaled, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type ClientName, clientNames, clients, toForeignEntry } from "../../src/clients/client.ts";
import { clientFile } from "../../src/clients/client-places.ts";
import { openClientText } from "../../src/clients/client-text.ts";
import { planConnect, planDisconnect, writeConnect, writeDisconnect } from "../../src/clients/connect-client.ts";
import { ReceiptStore } from "../../src/clients/receipts.ts";
import { clientFiles } from "./client-files.ts";

const command = "C:\\Program Files\\nodejs\\node.exe";
const words = {
  kind: "stdio",
  command,
  args: ["/opt/fair lead/bin/fairlead.cjs", "serve", "--client", "x"],
  env: { FAIRLEAD_HOME: "/home/ü" },
} as const;

async function connect(client: ClientName, file: string, receipts: ReceiptStore): Promise<string> {
  const entry = toForeignEntry(client, words) ?? {};
  const plan = await planConnect({ client, file, entry, move: [] }, receipts);
  expect(await writeConnect(plan, receipts)).toBe("written");
  return readFile(file, "utf8");
}

async function disconnect(client: ClientName, file: string, receipts: ReceiptStore): Promise<string> {
  const receipt = await receipts.read(client, file);
  if (receipt === undefined) throw new Error("there is no receipt");
  const plan = await planDisconnect(receipt, receipts);
  await writeDisconnect(receipt, plan, receipts);
  return plan.kind;
}

describe.each(clientNames)("%s: connect, then disconnect", (client) => {
  test("leaves 30 settings files as they were, byte for byte, or refuses them untouched", async () => {
    await using folder = await temporaryFolder();
    const receipts = new ReceiptStore(join(folder.path, "state"));
    const files = clientFiles(client);
    expect(files.length).toBeGreaterThanOrEqual(30);
    // Clients whose files have the same syntax share the files: one client takes each file. With `--long`, every client takes all files.
    const alike = clientNames.filter((name) => clients[name].syntax === clients[client].syntax);
    const shares = scaled(1, alike.length);
    let count = 0;
    for (const { title, text, isRefused } of files) {
      count += 1;
      if ((count - alike.indexOf(client)) % shares !== 0) continue;
      const home = join(folder.path, String(count));
      const file = await clientFile(client, { env: {}, home, platform: "linux" });
      await mkdir(home);
      if (text !== undefined) {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text);
      }
      const listed = await readdir(home, { recursive: true });
      if (isRefused) {
        const error = await connect(client, file, receipts).catch((cause: unknown) => cause);
        expect(error, title).toBeInstanceOf(HostError);
        expect(error, title).toMatchObject({ message: expect.stringContaining(file), next: expect.any(String) });
      } else {
        const written = await connect(client, file, receipts);
        const { servers } = await openClientText(client, file, written);
        expect(servers.get("fairlead")?.value, title).toEqual(toForeignEntry(client, words));
        if (clients[client].syntax === "json") JSON.parse(written.replace("\uFEFF", ""));
        expect(await disconnect(client, file, receipts), title).toBe("restore");
      }
      expect(await readdir(home, { recursive: true }), title).toEqual(listed);
      if (text !== undefined) expect(Buffer.compare(await readFile(file), Buffer.from(text)), title).toBe(0);
      expect(await receipts.list(), title).toEqual([]);
    }
  });
});

describe("a client's file", () => {
  test("keeps its permissions, and a link to it stays a link", async () => {
    await using folder = await temporaryFolder();
    const receipts = new ReceiptStore(join(folder.path, "state"));
    const [target, file] = [join(folder.path, "dotfiles.json"), join(folder.path, "mcp.json")];
    await writeFile(target, "{}");
    await chmod(target, 0o640);
    await symlink(target, file);
    await connect("cursor", file, receipts);
    expect(await readFile(target, "utf8")).toContain("fairlead");
    expect((await stat(target)).mode & 0o777).toBe(0o640);
    expect(await disconnect("cursor", file, receipts)).toBe("restore");
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, "utf8")).toBe("{}");
  });
});
