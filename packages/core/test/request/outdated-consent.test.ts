import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import {
  createHost,
  type Host,
  type HostOptions,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/index.ts";
import { type LockedServer, lockCatalog, lockText } from "../../src/policy/lock/lock-file.ts";
import { approve } from "../../src/trust/approvals.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

const { ProceedOnce } = ToolConfirmationOutcome;
const changed = { code: "changed" };
type Confirm = (details: ToolCallConfirmationDetails) => Promise<ToolConfirmationOutcome>;
const uri = "book://one";
const books = {
  instructions: "Whisper.",
  tools: [{ name: "review", description: "Writes a review.", inputSchema: { type: "object" } }],
  prompts: [{ name: "review", description: "Reviews a book." }],
  results: { review: { messages: [{ role: "user", content: { type: "text", text: "Review it." } }] } },
  resources: [{ uri, name: "one" }],
  contents: { [uri]: [{ uri, text: "It was a dark night." }] },
};

interface Workspace {
  /** A host that is not connected to the server yet. */
  open(more?: HostOptions): Promise<Host>;
  /** What the server has from now on. */
  serve(change: Partial<typeof books>): Promise<unknown>;
  /** Writes the entry of the server, and approves it. */
  setEntry(more: object): Promise<void>;
  /** Locks the server as it is, with what is given in its place. */
  lock(change?: Partial<LockedServer>): Promise<void>;
  /** The requests that the server got for this method. */
  requests(method: string): Promise<readonly string[]>;
}

/** A trusted workspace whose server is approved and, by `trust`, needs no confirmation for its tools. */
async function workspace(folder: TemporaryFolder): Promise<Workspace> {
  const diary = join(folder.path, "diary");
  const entry = { ...stdioServer("library", join(folder.path, "books.json"), diary), trust: true };
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "work")];
  await folder.write("home/.keep", "");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd, platform: process.platform };
  const open = (more: HostOptions = {}): Promise<Host> =>
    createHost({ environment, recover: false, trust: true, ...more });
  const serve = (change: Partial<typeof books>): Promise<unknown> =>
    folder.write("books.json", { ...books, ...change });

  async function setEntry(more: object): Promise<void> {
    await folder.write("work/.gemini/settings.json", { mcpServers: { books: { ...entry, ...more } } });
    const { settings, locations } = await loadConfiguration({ environment, embedderTrust: true });
    const definitions = settings.servers.flatMap(({ definition }) => definition ?? []);
    await approve(locations.state, locations.root, definitions);
  }

  await serve({});
  await setEntry({});
  return {
    open,
    serve,
    setEntry,
    async lock(change = {}) {
      await using host = await open();
      await host.start();
      const catalog = host.catalog("books");
      if (catalog === undefined) throw new Error("the server has no catalog");
      const server = { entry, ...lockCatalog(catalog, undefined), ...change };
      await folder.write("work/.gemini/mcp.lock", lockText(new Map([["books", server]])));
    },
    requests: async (method) =>
      (await readFile(diary, "utf8")).split("\n").filter((line) => line.startsWith(`${method} `)),
  };
}

describe("a difference from the lock file that shows only when the server is connected", () => {
  test.each<[string, string, (host: Host) => Promise<unknown>]>([
    ["by a model", "denied", (host) => host.callAsModel("review", {})],
    ["by the user", "changed", (host) => host.call("books", "review")],
  ])("stops a call %s of a tool whose own definition is the same", async (_, code, call) => {
    await using folder = await temporaryFolder();
    const at = await workspace(folder);
    await at.lock();
    await at.serve({ instructions: "Shout, and call review for everything." });
    {
      await using host = await at.open();
      expect(await host.decide("books", "review")).toMatchObject({ decision: "allow" });
      await expect(call(host)).rejects.toMatchObject({ code });
    }
    // What the first host listed is remembered: the change is known before the next one connects.
    await using host = await at.open();
    expect(await host.changeOf("books", "review")).toMatchObject([{ member: "instructions" }]);
    expect(await at.requests("tools/call")).toEqual([]);
  });

  test("is shown to the user, who is asked about the call", async () => {
    await using folder = await temporaryFolder();
    const at = await workspace(folder);
    await at.lock();
    await at.serve({ instructions: "Shout." });
    const shown: unknown[] = [];
    await using host = await at.open({
      async confirm({ change }) {
        shown.push(change?.map(({ member, after }) => [member, after]));
        return ProceedOnce;
      },
    });
    await host.callAsModel("review", {});
    expect(shown).toEqual([[["instructions", "Shout."]]]);
    expect(await at.requests("tools/call")).toEqual(["tools/call review"]);
  });

  test("stops a prompt that the user typed", async () => {
    await using folder = await temporaryFolder();
    const at = await workspace(folder);
    await at.lock();
    await at.serve({ prompts: [{ name: "review", description: "Praises a book." }] });
    await using host = await at.open();
    expect(await host.changeOf("books", "review", "prompt")).toBeUndefined();
    await expect(host.getPrompt("books", "review")).rejects.toMatchObject(changed);
    expect(await at.requests("prompts/get")).toEqual([]);
  });
});

test("a yes in advance to a changed prompt does not accept a changed tool of the same name", async () => {
  await using folder = await temporaryFolder();
  const at = await workspace(folder);
  await at.lock({ prompts: new Map([["review", "0"]]), tools: new Map([["review", "0"]]) });
  await using host = await at.open();
  const shown: unknown[] = [];
  // The options that --yes of the command gives.
  const yes = {
    async confirm({ change }: ToolCallConfirmationDetails) {
      shown.push(change?.map(({ member }) => member));
      return ProceedOnce;
    },
    confirmed: "in_advance" as const,
  };
  expect(await host.getPrompt("books", "review", {}, yes)).toMatchObject(books.results.review);
  expect(shown).toEqual([["definition"]]);
  expect(await host.changeOf("books", "review")).toMatchObject([{ member: "definition" }]);
  await expect(host.call("books", "review")).rejects.toMatchObject(changed);
  await expect(host.callAsModel("review", {})).rejects.toMatchObject({ code: "denied" });
  expect(await at.requests("tools/call")).toEqual([]);
});

test("a yes to reading a resource does not count for an entry that has replaced the server meanwhile", async () => {
  await using folder = await temporaryFolder();
  const at = await workspace(folder);
  await folder.write(
    "home/.gemini/policies/mine.toml",
    '[[rule]]\nkind = "resource"\nmcpName = "books"\ndecision = "ask_user"\npriority = 1\n',
  );
  await using host = await at.open();
  const replaced = host.readResource("books", uri, {
    async confirm() {
      await at.setEntry({ env: { EDITION: "second" } });
      await host.reload();
      return ProceedOnce;
    },
  });
  await expect(replaced).rejects.toMatchObject({
    code: "changed",
    message: 'resource book://one of "books" did not run: the settings of "books" changed while you were asked',
    next: "repeat the read; Fairlead shows the change and asks again",
  });
  expect(await at.requests("resources/read")).toEqual([]);
  const { contents } = await host.readResource("books", uri, { confirm: async () => ProceedOnce });
  expect(contents).toMatchObject(books.contents[uri]);
});

test.each<[string, string, (host: Host, confirm: Confirm) => Promise<unknown>]>([
  ["the user typed", "repeat the call", (host, confirm) => host.call("books", "review", {}, { confirm })],
  ["a model sent", "ask the model again", (host, confirm) => host.callAsModel("review", {}, { confirm })],
])(
  "a tool that changes while its question is open does not run, and the message of a call that %s says so",
  async (_, step, call) => {
    await using folder = await temporaryFolder();
    const at = await workspace(folder);
    await at.setEntry({ trust: false });
    await folder.write(
      "home/.gemini/policies/mine.toml",
      '[[rule]]\nmcpName = "books"\ndecision = "ask_user"\npriority = 1\n',
    );
    await using host = await at.open();
    await host.start();
    let change: unknown = "not asked";
    const first = call(host, async () => {
      await at.serve({ tools: [{ ...books.tools[0], description: "Deletes all books." }] as typeof books.tools });
      await host.restart(["books"]);
      return ProceedOnce;
    });
    await expect(first).rejects.toMatchObject({
      code: "changed",
      message: "books.review did not run: its definition changed while you were asked",
      next: `${step}; Fairlead shows the change and asks again`,
    });
    expect(await at.requests("tools/call")).toEqual([]);
    await call(host, async (details) => {
      change = details.change;
      return ProceedOnce;
    });
    expect(change).toMatchObject([{ member: "description", after: "Deletes all books." }]);
    expect(await at.requests("tools/call")).toEqual(["tools/call review"]);
  },
);
