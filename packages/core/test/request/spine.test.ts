import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import {
  createHost,
  type Host,
  type HostOptions,
  PolicyEngine,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import { calls, collect, plays, says } from "../support/turn-desk.ts";

const { ProceedOnce, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;

afterEach(() => vi.restoreAllMocks());

async function open(folder: TemporaryFolder, options: HostOptions = {}, entry: object = {}): Promise<Host> {
  const list = await folder.write("list.json", [{ name: "pay", inputSchema: { type: "object" } }]);
  const s = { ...stdioServer("counted", join(folder.path, "notes"), list), ...entry };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createHost({ environment, recover: false, trust: true, ...options });
  await host.start();
  return host;
}

async function history(folder: TemporaryFolder): Promise<readonly unknown[]> {
  const state = join(folder.path, "home/.fairlead");
  const ledger = createLedger({ folder: ledgerFolder(state), keepArguments: () => true, now: Date.now });
  return (await ledger.read()).map(({ decision, answer, outcome }) => [decision, answer, outcome]);
}

test("the time that a person takes to answer is counted apart from the request's", async () => {
  await using folder = await temporaryFolder();
  let now = 0;
  const confirm = async (): Promise<ToolConfirmationOutcome> => {
    now += 2000;
    return ProceedOnce;
  };
  {
    await using host = await open(folder, { clock: { ...systemClock, now: () => now }, confirm });
    await host.callAsModel("pay", {});
    await host.call("s", "pay", {});
  }
  const ledger = createLedger({
    folder: ledgerFolder(join(folder.path, "home/.fairlead")),
    keepArguments: () => true,
    now: Date.now,
  });
  expect((await ledger.read()).map(({ durationMs, confirmationMs }) => [durationMs, confirmationMs])).toEqual([
    [2000, 2000],
    [0, undefined],
  ]);
});

/** How often the rules are evaluated while `work` runs. */
async function evaluations(work: () => Promise<unknown>): Promise<number> {
  const check = vi.spyOn(PolicyEngine.prototype, "check");
  await work();
  return check.mock.calls.length;
}

test("a typed call is decided once", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  expect(await evaluations(() => host.call("s", "pay", {}))).toBe(1);
});

test("a model's call that a rule allows is decided once, in a turn, by name and in two steps", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, {}, { trust: true });
  const model = plays(calls("pay"), says("done"));
  expect(await evaluations(() => collect(host.runTurn("go", { model })))).toBe(1);
  vi.restoreAllMocks();
  expect(await evaluations(() => host.callAsModel("pay", {}))).toBe(1);
  vi.restoreAllMocks();
  const tool = host.toolRegistry.getTool("pay");
  const inTwoSteps = async (): Promise<void> => {
    expect(await tool?.shouldConfirmExecute({})).toBe(false);
    await tool?.execute({});
  };
  expect(await evaluations(inTwoSteps)).toBe(1);
});

test("a model's call that a person confirms is decided twice", async () => {
  await using folder = await temporaryFolder();
  const asked: ToolCallConfirmationDetails[] = [];
  const answers = [ProceedOnce, ProceedAlwaysTool];
  await using host = await open(folder, {
    confirm: async (details) => {
      asked.push(details);
      return answers[asked.length - 1] ?? Cancel;
    },
  });
  expect(await evaluations(() => host.callAsModel("pay", {}))).toBe(2);
  vi.restoreAllMocks();
  expect(await evaluations(() => host.callAsModel("pay", {}))).toBe(2);
  vi.restoreAllMocks();
  expect(await evaluations(() => host.callAsModel("pay", {}))).toBe(1);
  expect(asked).toHaveLength(2);
});

test("a rule that is written between the question and the call counts", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder, {
    async confirm() {
      await folder.write(
        "home/.gemini/policies/mine.toml",
        '[[rule]]\nmcpName = "s"\ndecision = "deny"\npriority = 1\n',
      );
      return ProceedOnce;
    },
  });
  await expect(host.callAsModel("pay", {})).rejects.toMatchObject({ code: "denied" });
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "denied" });
});

test("a decision is carried for the arguments that it was made for, and for no others", async () => {
  await using folder = await temporaryFolder();
  await folder.write(
    "home/.gemini/policies/mine.toml",
    '[[rule]]\nmcpName = "s"\ntoolName = "pay"\nargsPattern = "much"\ndecision = "deny"\npriority = 2\n' +
      '[[rule]]\nmcpName = "s"\ntoolName = "pay"\ndecision = "allow"\npriority = 1\n',
  );
  await using host = await open(folder);
  const tool = host.toolRegistry.getTool("pay");
  expect(await tool?.shouldConfirmExecute({ how: "little" })).toBe(false);
  await expect(tool?.execute({ how: "much" })).rejects.toMatchObject({ code: "denied" });
  await tool?.execute({ how: "little" });
});

test("each request is one row of the history, with the rule that decided and how a person answered", async () => {
  await using folder = await temporaryFolder();
  {
    const answers = [ProceedOnce, Cancel];
    await using host = await open(folder, { confirm: async () => answers.shift() ?? Cancel });
    await host.call("s", "pay");
    await host.callAsModel("pay", {});
    await expect(host.callAsModel("pay", {})).rejects.toMatchObject({ code: "denied" });
    await expect(host.callAsModel("pai", {})).rejects.toMatchObject({ code: "tool_unknown" });
  }
  expect(await history(folder)).toEqual([
    ["allow", undefined, "ok"],
    ["ask_user", "asked", "ok"],
    ["ask_user", undefined, "denied"],
  ]);
});

test("a user who is asked about a typed call answers for that call", async () => {
  await using folder = await temporaryFolder();
  const rule = '[[rule]]\nmcpName = "s"\ndecision = "ask_user"\npriority = 1\n';
  await folder.write("home/.gemini/policies/mine.toml", rule);
  await using host = await open(folder);
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "denied" });
  await expect(host.call("s", "pay", {}, { confirm: async () => Cancel })).rejects.toMatchObject({ code: "denied" });
  const reasons: unknown[] = [];
  await host.call(
    "s",
    "pay",
    {},
    {
      async confirm({ rule: asking }) {
        reasons.push(asking?.text);
        return ProceedOnce;
      },
    },
  );
  expect(reasons).toEqual([expect.stringContaining("mine.toml:1 asks about it")]);
  // A yes that came with a typed call is none for a model that wants the same.
  await host.call("s", "pay", {}, { confirmed: true });
  await expect(host.callAsModel("pay", {})).rejects.toMatchObject({ code: "denied" });
});

test("one yes for once runs one of several equal calls", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  const tool = host.toolRegistry.getTool("pay");
  const details = await tool?.shouldConfirmExecute({});
  if (!details) throw new Error("not asked");
  await details.onConfirm(ProceedOnce);
  const ends = await Promise.allSettled([1, 2, 3].map(async () => tool?.execute({})));
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
});

test("equal calls of one answer are each asked about", async () => {
  await using folder = await temporaryFolder();
  let questions = 0;
  await using host = await open(folder, {
    async confirm() {
      questions += 1;
      return questions === 1 ? ProceedOnce : Cancel;
    },
  });
  const ends = await Promise.allSettled([1, 2, 3].map(() => host.callAsModel("pay", {})));
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(questions).toBe(3);
});

test("a rule that denies, written while the user is asked about a typed call, stops it", async () => {
  await using folder = await temporaryFolder();
  const rule = (decision: string): Promise<unknown> =>
    folder.write(
      "home/.gemini/policies/mine.toml",
      `[[rule]]\nmcpName = "s"\ndecision = "${decision}"\npriority = 1\n`,
    );
  await rule("ask_user");
  await using host = await open(folder);
  const confirm = async (): Promise<ToolConfirmationOutcome> => {
    await rule("deny");
    return ProceedOnce;
  };
  await expect(host.call("s", "pay", {}, { confirm })).rejects.toMatchObject({ code: "denied" });
});

test("a yes to a typed call is none for a model that wants the same", async () => {
  await using folder = await temporaryFolder();
  await folder.write(
    "home/.gemini/policies/mine.toml",
    '[[rule]]\nmcpName = "s"\ndecision = "ask_user"\npriority = 1\n',
  );
  await using host = await open(folder);
  await host.call("s", "pay", {}, { confirm: async () => ProceedOnce });
  await expect(host.toolRegistry.getTool("pay")?.execute({})).rejects.toMatchObject({ code: "denied" });
});

test("a host that is closed does not wait for an answer, and takes none after that", async () => {
  await using folder = await temporaryFolder();
  let tell: (details: ToolCallConfirmationDetails) => void = () => {};
  const asked = new Promise<ToolCallConfirmationDetails>((resolve) => {
    tell = resolve;
  });
  const host = await open(folder, {
    confirm(details) {
      tell(details);
      return new Promise(() => {});
    },
  });
  const calling = expect(host.callAsModel("pay", {})).rejects.toMatchObject({ code: "cancelled" });
  const details = await asked;
  await host[Symbol.asyncDispose]();
  await calling;
  await details.onConfirm(ProceedAlwaysTool);
  expect(await history(folder)).toEqual([["ask_user", undefined, "cancelled"]]);
});
