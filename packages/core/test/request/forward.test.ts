import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createOpenedHost, type ForwardedRequest, type OpenedHost } from "../../src/host.ts";
import {
  type ConfirmPort,
  type HostOptions,
  PolicyEngine,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
const claude = { name: "claude-code", conversation: "c1" };
const codex = { name: "codex", conversation: "x1" };

afterEach(() => vi.restoreAllMocks());

/** A host with the demo server alone, which needs no process. */
async function open(folder: TemporaryFolder, rules = "", options: HostOptions = {}): Promise<OpenedHost> {
  await folder.write("home/.gemini/policies/mine.toml", rules);
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createOpenedHost({ environment, workspace: false, settings: {}, recover: false, ...options });
  await host.start({ servers: ["demo"] });
  return host;
}

const rule = (text: string): string => `[[rule]]\nmcpName = "demo"\n${text}\npriority = 1\n`;
const allowed = rule('client = "claude-code"\ndecision = "allow"');

function greet(client = claude, args: object = { name: "Ada" }): ForwardedRequest {
  return { client, server: "demo", method: "tools/call", params: { name: "greet", arguments: args } };
}

/** Answers each question with the next outcome. */
function answering(...outcomes: readonly ToolConfirmationOutcome[]) {
  const asked: ToolCallConfirmationDetails[] = [];
  const confirm: ConfirmPort = async (question) => {
    const details = await question();
    if (details === false) return;
    asked.push(details);
    await details.onConfirm(outcomes[asked.length - 1] ?? Cancel, "form");
  };
  return { asked, confirm };
}

async function history(folder: TemporaryFolder) {
  const state = join(folder.path, "home/.fairlead");
  const ledger = createLedger({ folder: ledgerFolder(state), keepArguments: () => true, now: Date.now });
  return ledger.read();
}

describe("a client's call", () => {
  test("ends with the host, which aborts the controller that it was given and no other", async () => {
    await using folder = await temporaryFolder();
    const host = await open(folder, allowed);
    const [given, other] = [new AbortController(), new AbortController()];
    const params = { name: "wait", arguments: { seconds: 3600 } };
    const send = (client: typeof claude, signal: AbortSignal, stop?: AbortController): Promise<unknown> =>
      host.gateway.forward({ client, server: "demo", method: "tools/call", params }, { signal, stop });
    const running = [send(claude, given.signal, given), send(claude, other.signal)];
    await host[Symbol.asyncDispose]();
    const ends = await Promise.allSettled(running);
    expect(ends).toMatchObject([{ reason: { code: "cancelled" } }, { reason: { code: "cancelled" } }]);
    expect([given.signal.aborted, other.signal.aborted]).toEqual([true, false]);
  });

  test("has the server's result as it came, and is decided once if a rule allows it", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder, allowed);
    const check = vi.spyOn(PolicyEngine.prototype, "check");
    const result = await host.gateway.forward(greet());
    expect(check).toHaveBeenCalledTimes(1);
    const { content, isError } = await host.call("demo", "greet", { name: "Ada" });
    expect(result).toEqual({ content, ...(isError && { isError }) });
  });

  test("needs a confirmation by default; without a way to ask it is denied with the command that allows it", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    await expect(host.gateway.forward(greet())).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining('"claude-code" cannot ask the user'),
      next: "fairlead policy allow --client claude-code demo.greet",
    });
  });

  test("runs after a yes, not after a no, and a yes in advance answers a rule that asks", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    const { asked, confirm } = answering(ProceedOnce, Cancel);
    await host.gateway.forward(greet(), { confirm });
    await expect(host.gateway.forward(greet(), { confirm })).rejects.toMatchObject({ code: "denied" });
    await host.gateway.forward(greet(), { confirmed: true });
    expect(asked.map(({ toolName, args }) => [toolName, args])).toEqual([
      ["greet", { name: "Ada" }],
      ["greet", { name: "Ada" }],
    ]);
    expect(asked[0]).toMatchObject({
      description: expect.stringMatching(/./),
      rule: { decision: "ask_user", text: expect.stringMatching(/default for tools/) },
      outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel],
    });
  });

  test("is approved always for its own client only, also by another host", async () => {
    await using folder = await temporaryFolder();
    {
      await using host = await open(folder);
      await host.gateway.forward(greet(), { confirm: answering(ProceedAlwaysAndSave).confirm });
    }
    await using host = await open(folder);
    await host.gateway.forward(greet({ ...claude, conversation: "c2" }));
    await expect(host.gateway.forward(greet(codex))).rejects.toMatchObject({ code: "denied" });
    await expect(host.callAsModel("demo__greet", { name: "Ada" })).rejects.toMatchObject({ code: "denied" });
  });

  test("is approved for its own conversation only", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    await host.gateway.forward(greet(), { confirm: answering(ProceedAlwaysTool).confirm });
    await host.gateway.forward(greet());
    await expect(host.gateway.forward(greet({ ...claude, conversation: "c2" }))).rejects.toMatchObject({
      code: "denied",
    });
    await expect(host.gateway.forward(greet(codex))).rejects.toMatchObject({ code: "denied" });
    await expect(host.callAsModel("demo__greet", { name: "Ada" })).rejects.toMatchObject({ code: "denied" });
  });

  test("that waits is allowed as soon as an answer about another call covers it", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    const before: boolean[] = [];
    await host.gateway.forward(greet(), {
      async confirm(question) {
        before.push((await question()) === false);
        await host.gateway.forward(greet(claude, { name: "Bob" }), { confirm: answering(ProceedAlwaysTool).confirm });
        before.push((await question()) === false);
      },
    });
    expect(before).toEqual([false, true]);
  });

  test("is recorded with its client, and with the place where the person said yes", async () => {
    await using folder = await temporaryFolder();
    {
      await using host = await open(folder, allowed);
      await host.gateway.forward(greet());
      await host.gateway.forward(greet(codex), { confirm: answering(ProceedOnce).confirm });
      await expect(host.gateway.forward(greet(codex))).rejects.toMatchObject({ code: "denied" });
      await host.call("demo", "greet", { name: "Ada" });
    }
    const rows = (await history(folder)).map(({ client, answer, answeredIn, refusal, outcome }) => [
      client,
      answer,
      answeredIn,
      refusal,
      outcome,
    ]);
    expect(rows).toEqual([
      ["claude-code", undefined, undefined, undefined, "ok"],
      ["codex", "asked", "form", undefined, "ok"],
      ["codex", undefined, undefined, "no_terminal", "denied"],
      [undefined, undefined, undefined, undefined, "ok"],
    ]);
  });

  test("is checked like every other: wrong arguments are not sent, and a cancelled call ends", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder, allowed);
    await expect(host.gateway.forward(greet(claude, { name: 7 }))).rejects.toMatchObject({ code: "arguments_invalid" });
    const params = { name: "greet", arguments: "Ada" };
    await expect(host.gateway.forward({ ...greet(), params })).rejects.toMatchObject({ code: "usage" });
    const stop = new AbortController();
    stop.abort();
    await expect(host.gateway.forward(greet(), { signal: stop.signal })).rejects.toMatchObject({ code: "cancelled" });
  });

  test("of a tool that the server does not list is sent: the server says what it thinks of it", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder, allowed);
    const failed = await host.gateway
      .forward({ ...greet(), params: { name: "nothing" } })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ cause: { evidence: { rpc: { code: expect.any(Number) } } } });
  });
});

describe("rules", () => {
  test("with a client apply to its requests alone", async () => {
    await using folder = await temporaryFolder();
    const rules = `${rule('decision = "allow"')}[[rule]]\nmcpName = "demo"\ntoolName = "greet"\nclient = "co*"\ndecision = "deny"\npriority = 2\n`;
    await using host = await open(folder, rules);
    await host.gateway.forward(greet());
    await host.callAsModel("demo__greet", { name: "Ada" });
    await host.call("demo", "greet", { name: "Ada" });
    await expect(host.gateway.forward(greet(codex))).rejects.toMatchObject({ code: "denied" });
    const decisions = [undefined, "codex", "claude-code"].map(async (client) => {
      return (await host.decide("demo", "greet", undefined, { client })).decision;
    });
    expect(await Promise.all(decisions)).toEqual(["allow", "deny", "allow"]);
    const [deniedToCodex, deniedToClaude] = [await host.gateway.deniedTo(codex), await host.gateway.deniedTo(claude)];
    const tool = { serverName: "demo", serverToolName: "greet" };
    expect([deniedToCodex(tool), deniedToClaude(tool)]).toEqual([true, false]);
    expect(deniedToCodex({ ...tool, serverToolName: "other" })).toBe(false);
  });
});

describe("other requests of a client", () => {
  test("reads and prompts are decided, completion only where a rule denies its prompt", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder, rule('kind = "prompt"\nclient = "codex"\ndecision = "deny"'));
    const read = { client: claude, server: "demo", method: "resources/read", params: { uri: "demo://about" } };
    await expect(host.gateway.forward(read)).rejects.toMatchObject({
      code: "denied",
      next: "fairlead policy allow --client claude-code --kind resource demo.demo://about",
    });
    const result = await host.gateway.forward(read, { confirm: answering(ProceedOnce).confirm });
    expect(result).toEqual({ contents: [expect.objectContaining({ uri: "demo://about" })] });

    const [prompt] = host.prompts("demo");
    const name = prompt?.serverPromptName ?? "";
    const get = { server: "demo", method: "prompts/get", params: { name } };
    await expect(host.gateway.forward({ ...get, client: codex })).rejects.toMatchObject({ code: "denied" });
    const values = { knot: "bowline" };
    const got = await host.gateway.forward({ ...get, client: claude, params: { name, arguments: values } });
    expect(got).toHaveProperty("messages");

    const ref = { type: "ref/prompt", name };
    const params = { ref, argument: { name: "audience", value: "" } };
    const completion = { server: "demo", method: "completion/complete", params };
    expect(await host.gateway.forward({ ...completion, client: claude })).toHaveProperty("completion.values");
    await expect(host.gateway.forward({ ...completion, client: codex })).rejects.toMatchObject({ code: "denied" });
  });

  test("anything else is refused", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder, allowed);
    const params = { name: "x" };
    await expect(
      host.gateway.forward({ client: claude, server: "demo", method: "tools/list", params }),
    ).rejects.toMatchObject({
      code: "usage",
    });
  });

  test("subscriptions need the same permission as reads", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    await expect(host.subscribe("demo", "demo://about", { client: codex })).rejects.toMatchObject({ code: "denied" });
  });

  test("sampling is decided for the server, then put to the client", async () => {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    const ask = vi.fn(async () => ({ role: "assistant" }));
    await expect(host.gateway.sampleThrough("demo", {}, ask, { client: claude })).rejects.toMatchObject({
      code: "denied",
    });
    expect(ask).not.toHaveBeenCalled();
    const { confirm } = answering(ProceedOnce);
    expect(await host.gateway.sampleThrough("demo", {}, ask, { client: claude, confirm })).toEqual({
      role: "assistant",
    });
  });
});

test("closing the host ends a client's question", async () => {
  await using folder = await temporaryFolder();
  const host = await open(folder);
  let running: Promise<unknown> | undefined;
  await new Promise<void>((asked) => {
    const confirm: ConfirmPort = async (question) => {
      await question();
      asked();
      await new Promise(() => {});
    };
    running = host.gateway.forward(greet(), { confirm });
  });
  await host[Symbol.asyncDispose]();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  await expect(host.gateway.forward(greet())).rejects.toMatchObject({ code: "usage" });
});

test("facts about a server come from its connection, and after that from the cache", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  expect(host.gateway.servers.get("demo").facts()).toMatchObject({
    serverInfo: { name: "fairlead-demo" },
    capabilities: { completions: {} },
    instructions: expect.stringContaining("try a host"),
  });
  expect(host.gateway.servers.find("other")).toBeUndefined();
});
