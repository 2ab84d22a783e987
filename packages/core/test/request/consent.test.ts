import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openHost } from "../../src/host.ts";
import {
  createHost,
  type Host,
  type HostOptions,
  type RegisteredTool,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
const inputSchema = { type: "object" };

interface Place extends Pick<TemporaryFolder, "path" | "write"> {
  readonly options: HostOptions & Required<Pick<HostOptions, "environment">>;
  /** A host of another run, connected. */
  host(options?: HostOptions): Promise<Host>;
  /** What the server offers from now on. */
  offer(description: string, ...others: readonly string[]): Promise<unknown>;
  calls(): Promise<readonly string[]>;
}

interface Settings {
  readonly entry?: object;
  readonly fairlead?: object;
  /** A policy file of the user's. */
  readonly rules?: string;
}

async function place(folder: TemporaryFolder, { entry = {}, fairlead = {}, rules }: Settings = {}): Promise<Place> {
  const [notes, list] = [join(folder.path, "notes"), join(folder.path, "list.json")];
  const s = { ...stdioServer("counted", notes, list), ...entry };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s }, fairlead });
  if (rules !== undefined) await folder.write("home/.gemini/policies/mine.toml", rules);
  await folder.write("work/.gemini/.keep", "");
  const [home, cwd] = [join(folder.path, "home"), join(folder.path, "work")];
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const options = { environment: { env, home, cwd, platform: process.platform }, recover: false, trust: true };
  const { path } = folder;
  return {
    path,
    write: (name, content) => folder.write(name, content),
    options,
    async host(more = {}) {
      const host = await createHost({ ...options, ...more });
      await host.start();
      return host;
    },
    offer: (description, ...others) =>
      folder.write("list.json", [
        { name: "pay", description, inputSchema },
        ...others.map((name) => ({ name, inputSchema })),
      ]),
    calls: async () => (await readFile(notes, "utf8")).split("\n").filter((line) => line.startsWith("call ")),
  };
}

function toolOf({ toolRegistry }: Host, name = "pay"): RegisteredTool {
  const tool = toolRegistry.find("s", name);
  if (tool === undefined) throw new Error(`no ${name}`);
  return tool;
}

async function asks(host: Host, name = "pay"): Promise<ToolCallConfirmationDetails> {
  const details = await toolOf(host, name).shouldConfirmExecute({});
  if (details === false) throw new Error("not asked");
  return details;
}

const changed = { code: "changed" };

test("a server that changes between what was shown and the connection that is used is refused, trusted or approved", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder, { entry: { trust: true } });
  await at.offer("Pays.", "look");
  {
    await using host = await at.host();
    const details = await toolOf(host).shouldConfirmExecute({});
    expect(details).toBe(false);
  }
  await at.offer("Pays twice.", "look");
  {
    // Known from the earlier run, and connected by the call.
    await using host = await createHost(at.options);
    expect(host.tools("s").map(({ decision }) => decision)).toEqual(["allow", "allow"]);
    expect(await toolOf(host).shouldConfirmExecute({})).toBe(false);
    await expect(toolOf(host).execute({})).rejects.toMatchObject(changed);
    await toolOf(host, "look").execute({});
    expect(host.tools("s").map(({ decision }) => decision)).toEqual(["ask_user", "allow"]);
    // One for once is for the call that it was asked about.
    await (await asks(host)).onConfirm(ProceedOnce);
    await toolOf(host).execute({});
    await expect(toolOf(host).execute({})).rejects.toMatchObject({ code: "denied" });
  }
  {
    await using host = await createHost(at.options);
    await expect(host.call("s", "pay")).rejects.toMatchObject(changed);
    expect((await asks(host)).change).toEqual([{ member: "description", before: "Pays.", after: "Pays twice." }]);
    await (await asks(host)).onConfirm(ProceedAlwaysTool);
    await toolOf(host).execute({});
  }
  await using host = await createHost(at.options);
  await host.call("s", "pay");
  await toolOf(host).execute({});
  expect(await at.calls()).toEqual(["call look {}", ...Array.from({ length: 4 }, () => "call pay {}")]);
});

test("a saved approval holds in the next run; another definition voids it and is shown beside the old one", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder);
  await at.offer("Pays.");
  {
    await using host = await at.host();
    await (await asks(host)).onConfirm(ProceedAlwaysAndSave);
  }
  {
    await using host = await at.host();
    expect(await host.decide("s", "pay")).toMatchObject({
      decision: "allow",
      rule: { origin: { source: "approval" } },
    });
    await toolOf(host).execute({});
  }
  await at.offer("Pays twice.");
  // What was approved is known even where all that was remembered is lost.
  await rm(join(at.path, "home/.fairlead/catalogs"), { recursive: true });
  {
    await using host = await at.host();
    const details = await asks(host);
    expect(details.change).toEqual([{ member: "description", before: "Pays.", after: "Pays twice." }]);
    await details.onConfirm(ProceedAlwaysAndSave);
    expect(await toolOf(host).shouldConfirmExecute({})).toBe(false);
  }
  await at.write("home/.gemini/settings.json", { mcpServers: { s: { ...stdioServer("counted"), timeout: 1234 } } });
  await using host = await createHost(at.options);
  await host.start();
  expect(await host.decide("s", "pay")).toMatchObject({ decision: "ask_user" });
});

test("a new tool of a server that may always is asked about once", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder);
  await at.offer("Pays.");
  await using host = await at.host();
  await (await asks(host)).onConfirm(ProceedAlwaysServer);
  await at.offer("Pays.", "new");
  await host.restart(["s"]);
  expect(host.tools("s").map(({ decision }) => decision)).toEqual(["allow", "ask_user"]);
  await (await asks(host, "new")).onConfirm(ProceedOnce);
  expect(host.tools("s").map(({ decision }) => decision)).toEqual(["allow", "allow"]);
});

test("an always ends with the entry that it was said for", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder);
  await at.offer("Pays.");
  await using host = await at.host();
  await (await asks(host)).onConfirm(ProceedAlwaysServer);
  const s = { ...stdioServer("counted", join(at.path, "notes"), join(at.path, "list.json")), env: { OTHER: "1" } };
  await at.write("home/.gemini/settings.json", { mcpServers: { s } });
  await host.reload();
  await host.start({ servers: ["s"] });
  expect(host.tools("s").map(({ decision }) => decision)).toEqual(["ask_user"]);
});

const rules = `
[[rule]]
mcpName = "s"
toolName = "pay"
decision = "deny"
denyMessage = "No money."
priority = 10

[[rule]]
mcpName = "s"
toolName = "look"
decision = "ask_user"
priority = 10
`;

test("what is typed is stopped by a deny, and by an own rule that asks until that is answered", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder, { rules });
  await at.offer("Pays.", "look", "free");
  await using host = await createHost(at.options);
  await expect(host.call("s", "pay", {}, { confirmed: true })).rejects.toMatchObject({
    code: "denied",
    message: expect.stringMatching(/^s\.pay denied: a rule in .*mine\.toml:\d+ denies it: No money\.$/),
    next: "fairlead policy explain s.pay",
  });
  // Nothing was started for it.
  expect(host.states()[0]).toMatchObject({ status: "disconnected" });
  await expect(host.call("s", "look")).rejects.toMatchObject({ code: "denied" });
  await host.call("s", "look", {}, { confirmed: true });
  await host.call("s", "free");
  expect(await at.calls()).toEqual(["call look {}", "call free {}"]);
});

test("a rule about what a tool says of itself is asked again when its server has said it", async () => {
  await using folder = await temporaryFolder();
  const rule = (hint: string): string =>
    `[[rule]]\nmcpName = "*"\ndecision = "deny"\npriority = 1\nannotations = { ${hint} }\n`;
  const at = await place(folder, { rules: rule("destructiveHint = true, openWorldHint = false") });
  const annotations = { destructiveHint: true, openWorldHint: false };
  await at.write("list.json", [
    { name: "pay", inputSchema, annotations },
    { name: "look", inputSchema },
  ]);
  await using host = await createHost(at.options);
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "denied" });
  await host.call("s", "look");
  await at.write("home/.gemini/policies/mine.toml", rule("destructiveHint = true"));
  await host.reload();
  await expect(host.readResource("demo", "demo://about")).rejects.toMatchObject({ code: "denied" });
});

test("reading, prompts and sampling meet the same rules", async () => {
  const deny = (kind: string): string => `[[rule]]\nkind = "${kind}"\nmcpName = "*"\ndecision = "deny"\npriority = 1\n`;
  await using folder = await temporaryFolder();
  const at = await place(folder, {
    rules: ["resource", "prompt", "sampling"].map(deny).join("\n"),
    fairlead: { servers: { s: { sampling: true } } },
  });
  await using host = await createHost({ ...at.options, sample: async () => ({ model: "m" }) });
  const denied = { code: "denied" };
  await expect(host.readResource("demo", "demo://about")).rejects.toMatchObject(denied);
  await expect(host.subscribe("demo", "demo://about")).rejects.toMatchObject(denied);
  await expect(host.getPrompt("demo", "teach", {})).rejects.toMatchObject(denied);
  const { problems } = await host.expandReferences("@demo://about");
  expect(problems).toHaveLength(1);
  const { content } = await host.call("s", "ask", { method: "sampling/createMessage", params: { messages: [] } });
  expect(content).toEqual([{ type: "text", text: '{"code":-1,"message":"sampling is not allowed for this server"}' }]);
});

test.each([
  [ProceedOnce, '{"model":"m"}'],
  [Cancel, '{"code":-1,"message":"sampling is not allowed for this server"}'],
])("a rule that asks before sampling asks the person: %s", async (answer, text) => {
  await using folder = await temporaryFolder();
  const at = await place(folder, {
    rules: '[[rule]]\nkind = "sampling"\nmcpName = "s"\ndecision = "ask_user"\npriority = 1\n',
    fairlead: { servers: { s: { sampling: true } } },
  });
  const confirm = async ({ outcomes }: ToolCallConfirmationDetails): Promise<ToolConfirmationOutcome> => {
    expect(outcomes).toEqual([ProceedOnce, Cancel]);
    return answer;
  };
  await using host = await createHost({ ...at.options, confirm, sample: async () => ({ model: "m" }) });
  const { content } = await host.call("s", "ask", { method: "sampling/createMessage", params: { messages: [] } });
  expect(content).toEqual([{ type: "text", text }]);
});

test("whatever was decided is written down, with what came of it", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder, { rules });
  await at.offer("Pays.", "look", "free");
  {
    await using host = await at.host();
    await host.call("s", "free");
    await host.call("s", "pay").catch(() => {});
    await asks(host, "pay").catch(() => {});
    await (await asks(host, "look")).onConfirm(Cancel);
    await (await asks(host, "look")).onConfirm(ProceedOnce);
    await toolOf(host, "look").execute({});
    await toolOf(host, "look")
      .execute({})
      .catch(() => {});
    await host.readResource("demo", "demo://about");
    await host.call("s", "nothing").catch(() => {});
  }
  const folderOf = ledgerFolder(join(at.path, "home/.fairlead"));
  const entries = await createLedger({ folder: folderOf, keepArguments: () => false, now: Date.now }).read();
  const rows = entries.map(({ kind, tool, decision, outcome, answer, refusal }) =>
    [kind, tool, decision, outcome, answer ?? refusal].join(" "),
  );
  expect(rows).toEqual([
    "tool free allow ok ",
    "tool pay deny denied ",
    "tool pay deny denied ",
    "tool look ask_user denied user",
    "tool look ask_user ok asked",
    "tool look ask_user denied no_terminal",
    "resource demo://about allow ok ",
    "tool nothing allow tool_unknown ",
  ]);
});

test("the history tells who answered: the user, an option of the call, or no answer at all", async () => {
  await using folder = await temporaryFolder();
  const asking = '[[rule]]\nmcpName = "s"\ntoolName = "pay"\ndecision = "ask_user"\npriority = 1\n';
  const at = await place(folder, { rules: asking });
  await at.offer("Pays.");
  {
    await using host = await at.host();
    await host.call("s", "pay", {}, { confirmed: "in_advance" });
    await host.call("s", "pay", {}, { confirm: async () => ProceedOnce });
    await host.call("s", "pay", {}, { confirm: async () => Cancel }).catch(() => {});
    await host.call("s", "pay", {}, { confirm: async () => undefined }).catch(() => {});
  }
  await at.offer("Pays twice.");
  {
    await using host = await at.host();
    await host.call("s", "pay", {}, { acceptChanged: true, confirmed: true });
  }
  const folderOf = ledgerFolder(join(at.path, "home/.fairlead"));
  const entries = await createLedger({ folder: folderOf, keepArguments: () => false, now: Date.now }).read();
  expect(entries.map(({ answer, refusal }) => answer ?? refusal)).toEqual([
    "in_advance",
    "asked",
    "user",
    "no_terminal",
    "in_advance",
  ]);
});

test("rules are read with the first decision, not with the host", async () => {
  await using folder = await temporaryFolder();
  const at = await place(folder);
  await using host = openHost(await loadConfiguration({ environment: at.options.environment }));
  await host.start();
  expect(host.tools("s").map(({ decision }) => decision)).toEqual([undefined, undefined]);
  await at.write("home/.gemini/policies/mine.toml", rules.replace('"pay"', '"echo"'));
  await host.policy();
  expect(host.tools("s").map(({ decision }) => decision)).toEqual(["deny", "ask_user"]);
});

test.each([
  [false, "deny"],
  [true, "ask_user"],
])(
  "the annotation readOnlyHint counts if the settings trust the server's annotations: %s",
  async (trustAnnotations, decision) => {
    await using folder = await temporaryFolder();
    const at = await place(folder, { fairlead: { servers: { s: { trustAnnotations } } } });
    await at.write("list.json", [{ name: "look", inputSchema, annotations: { readOnlyHint: true } }]);
    await using host = await at.host({ approvalMode: "plan", confirm: async () => ProceedOnce });
    expect((await host.explain("s", "look")).decision.decision).toBe(decision);
  },
);
