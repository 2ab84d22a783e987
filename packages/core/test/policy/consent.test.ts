import { describe, expect, test } from "vitest";
import {
  type AskedTool,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/policy/confirmation.ts";
import type { PolicyRequest } from "../../src/policy/decide.ts";
import { asked, type Desk, definition, desk, question, refusal, rule, trust } from "../support/consent-desk.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
const read = asked("files", "read");
const notConfirmed = ["denied", "files.read denied: the user has not confirmed these arguments"];
const changedRead = [definition("read", { description: "Reads and sends." }), definition("write")];

test("without a rule a person is asked, and shown exactly what would be sent, why, and what they may answer", async () => {
  await using at = await desk();
  const args = { path: "/a", deep: { list: [1] } };
  const details = question(at.ask({ ...read, annotations: { readOnlyHint: true } }, args));
  expect(details).toEqual({
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: "files",
    toolName: "read",
    toolDisplayName: "files__read",
    description: "",
    args,
    annotations: { readOnlyHint: true },
    rule: { decision: "ask_user", tier: "default", text: "the default for tools asks about it" },
    outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel],
    onConfirm: expect.any(Function),
    isOutdated: expect.any(Function),
  });
  args.deep.list.push(2);
  expect(details.args).toEqual({ path: "/a", deep: { list: [1] } });
  expect(Object.isFrozen(details.args["deep"])).toBe(true);
  await details.onConfirm(ProceedOnce);
  expect(refusal(() => at.redeem(read, args))).toEqual(notConfirmed);
  expect(refusal(() => at.redeem(read, { path: "/a", deep: { list: [1] } }))).toBeUndefined();
});

test("a yes for once is for these arguments, in whatever order, and is used up", async () => {
  await using at = await desk();
  const details = question(at.ask(read, { a: 1, b: [2] }));
  expect(refusal(() => at.redeem(read, { a: 1, b: [2] }))).toEqual(notConfirmed);
  await details.onConfirm(ProceedOnce);
  await details.onConfirm(ProceedOnce);
  expect(refusal(() => at.redeem(read, { a: 1, b: [3] }))).toEqual(notConfirmed);
  expect(refusal(() => at.redeem(asked("files", "write"), { a: 1, b: [2] }))).not.toBeUndefined();
  expect(refusal(() => at.redeem(read, { b: [2], a: 1 }))).toBeUndefined();
  expect(refusal(() => at.redeem(read, { a: 1, b: [2] }))).toEqual(notConfirmed);
});

test("two equal questions that are both answered yes are worth two calls", async () => {
  await using at = await desk();
  const details = [question(at.ask(read, {})), question(at.ask(read, {}))];
  for (const each of details) await each.onConfirm(ProceedOnce);
  const redeemed = [1, 2, 3].map(() => refusal(() => at.redeem(read, {})));
  expect(redeemed).toEqual([undefined, undefined, notConfirmed]);
});

test("a tool that no server lists can be confirmed for once only", async () => {
  await using at = await desk();
  const unknown = asked("files", "unknown");
  const details = question(at.ask(unknown, {}));
  expect(details.outcomes).toEqual([ProceedOnce, Cancel]);
  await details.onConfirm(ProceedAlwaysServer);
  expect([1, 2].map(() => refusal(() => at.redeem(unknown, {})) === undefined)).toEqual([true, false]);
});

test.each([Cancel, "garbage" as ToolConfirmationOutcome])("%s is a no, and the first answer counts", async (no) => {
  await using at = await desk();
  const details = question(at.ask(read, {}));
  await details.onConfirm(no);
  await details.onConfirm(ProceedAlwaysServer);
  expect(refusal(() => at.redeem(read, {}))).toEqual(notConfirmed);
});

test.each([
  [ProceedOnce, undefined, ["yes", undefined]],
  [ProceedOnce, "page", ["yes", "page"]],
  [ProceedOnce, "typed", ["typed", undefined]],
  [Cancel, "inbox", ["no", "inbox"]],
  [Cancel, "typed", ["no", undefined]],
] as const)("the history has the first answer and where it was given: %s, %s", async (outcome, how, expected) => {
  await using at = await desk();
  const request = { serverName: "files", serverToolName: "read", args: {} };
  const answers: unknown[] = [];
  const yes: unknown[] = [];
  const details = at.question(request, at.decide(request), read, {
    isOpen: () => true,
    onYes: (key) => yes.push(key),
    onAnswer: (...answer) => answers.push(answer),
  });
  await details.onConfirm(outcome, how);
  await details.onConfirm(Cancel, "form");
  expect(answers).toEqual([expected]);
  expect(yes).toEqual(expected[0] === "no" ? [] : [at.confirmationKey(request)]);
});

test("a question about a prompt shows how it differs from the lock file; one about a resource of that name does not", async () => {
  const drift = [{ member: "description", before: "Greets.", after: "Greets and sends." }];
  await using at = await desk({ promptDrift: () => drift });
  const questionAbout = (kind: "prompt" | "resource"): ToolCallConfirmationDetails => {
    const request = { serverName: "files", serverToolName: "hello", kind };
    return at.question(request, at.decide(request), asked("files", "hello"));
  };
  expect(questionAbout("prompt")).toMatchObject({ change: drift, args: {} });
  expect(questionAbout("resource")).toMatchObject({ args: { uri: "hello" } });
  expect(questionAbout("resource").change).toBeUndefined();
});

describe("always", () => {
  test.each([
    [ProceedAlwaysTool, "ask_user"],
    [ProceedAlwaysServer, "allow"],
    [ProceedAlwaysAndSave, "ask_user"],
  ] as const)("%s", async (outcome, another) => {
    await using at = await desk();
    await question(at.ask(asked("a.b", "c"), {})).onConfirm(outcome);
    expect(at.ask(asked("a.b", "c"), { x: 1 })).toBe(false);
    expect(refusal(() => at.redeem(asked("a.b", "c"), { x: 2 }))).toBeUndefined();
    expect(at.verdict(asked("a.b", "d")).decision).toBe(another);
    expect(at.verdict(asked("a", "b.c")).decision).toBe("ask_user");
  });

  test("a new tool of a server that may always is asked about once", async () => {
    await using at = await desk();
    await question(at.ask(asked("a.b", "c"), {})).onConfirm(ProceedAlwaysServer);
    at.marks.see("a.b", [definition("c"), definition("d"), definition("new")]);
    const fresh = asked("a.b", "new");
    await question(at.ask(fresh, {})).onConfirm(Cancel);
    await question(at.ask(fresh, {})).onConfirm(ProceedOnce);
    expect(at.ask(fresh, { other: true })).toBe(false);
    expect(at.ask(asked("a.b", "d"), {})).toBe(false);
  });

  test("one that has become another is no new one, however often it is said yes to for once", async () => {
    await using at = await desk();
    const pair = asked("a.b", "c");
    await question(at.ask(pair, {})).onConfirm(ProceedAlwaysServer);
    at.marks.see("a.b", [definition("c", { description: "Sends." }), definition("d")]);
    for (const _time of [1, 2, 3]) {
      await question(at.ask(pair, {})).onConfirm(ProceedOnce);
      expect(refusal(() => at.redeem(pair, {}))).toBeUndefined();
    }
    expect(at.ask(pair, {})).not.toBe(false);
    const late = asked("a.b", "late");
    at.marks.see("a.b", [definition("late")]);
    at.marks.see("a.b", [definition("late", { description: "Sends." })]);
    for (const _time of [1, 2]) await question(at.ask(late, {})).onConfirm(ProceedOnce);
    expect(at.ask(late, {})).not.toBe(false);
  });

  test("it ends with the definition that was seen", async () => {
    await using at = await desk();
    await question(at.ask(read, {})).onConfirm(ProceedAlwaysTool);
    at.marks.see("files", changedRead);
    const details = question(at.ask(read, {}));
    expect(details.rule?.text).toBe("the rule for changed definitions asks about it");
    expect(details.change).toEqual([{ member: "description", after: "Reads and sends." }]);
    await details.onConfirm(ProceedAlwaysTool);
    expect(at.ask(read, {})).toBe(false);
    at.marks.see("files", [definition("read"), definition("write")]);
    expect(at.ask(read, {})).not.toBe(false);
  });
});

describe("only answers that can take effect are offered", () => {
  const all = [ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave];
  const changed = () => "other";
  test.each([
    ["by default", {}, all],
    ["an administrator asks", { rules: [rule("administrator", "ask_user", "files")] }, []],
    ["the user asks", { rules: [rule("user", "ask_user", "files", "read")] }, []],
    // What is saved is the user's own word, and stronger than the workspace's.
    ["the workspace asks", { rules: [rule("workspace", "ask_user", "files")] }, [ProceedAlwaysAndSave]],
    ["the lock file has another", { locked: changed }, [ProceedAlwaysTool, ProceedAlwaysServer]],
    ["nothing can be kept", { folder: { path: "/dev/null/state" } }, [ProceedAlwaysTool, ProceedAlwaysServer]],
  ])("%s", async (_, options, expected) => {
    await using at = await desk(options);
    expect(question(at.ask(read, {})).outcomes).toEqual([ProceedOnce, ...expected, Cancel]);
  });

  test("in plan mode what is read-only is asked about each time", async () => {
    await using at = await desk({ mode: "plan", trustsAnnotations: true });
    at.marks.see("notes", [definition("look", { annotations: { readOnlyHint: true } })]);
    expect(question(at.ask(asked("notes", "look"), {})).outcomes).toEqual([ProceedOnce, Cancel]);
  });

  test("another yes is one for once", async () => {
    await using at = await desk({ rules: [rule("administrator", "ask_user", "files")] });
    await question(at.ask(read, {})).onConfirm(ProceedAlwaysServer);
    expect(refusal(() => at.redeem(read, {}))).toBeUndefined();
    expect(refusal(() => at.redeem(read, {}))).toEqual(notConfirmed);
  });
});

test("a deny is told with its rule, and no answer was ever asked for", async () => {
  await using at = await desk({ rules: [trust("files"), rule("user", "deny", "files", "read")] });
  const denied = ["denied", "files.read denied: a rule in user.toml:1 denies it"];
  expect(refusal(() => at.ask(read, {}))).toEqual(denied);
  expect(refusal(() => at.redeem(read, {}))).toEqual(denied);
  expect(at.ask(asked("files", "write"), {})).toBe(false);
});

test("without a way to ask the user, a request that needs confirmation is denied", async () => {
  await using at = await desk({ interactive: false });
  expect(refusal(() => at.ask(read, {}))).toEqual([
    "denied",
    "files.read denied: it needs confirmation and there is no terminal to ask on",
  ]);
});

test("a request that the user types is stopped by a rule that is in doubt, of whatever tier", async () => {
  const doubt = { ...rule("workspace", "ask_user", "files"), isDoubt: true };
  await using at = await desk({ rules: [doubt] });
  expect(at.typed(read)).toEqual({ decision: "ask_user", rule: doubt });
  await using without = await desk({ rules: [rule("workspace", "ask_user", "files")] });
  expect(without.typed(read).decision).toBe("allow");
});

describe("a changed definition", () => {
  test("is refused as changed where the user cannot be asked", async () => {
    await using at = await desk({ interactive: false, rules: [trust("files")] });
    at.marks.see("files", changedRead);
    expect(at.verdict(read)).toMatchObject({ decision: "deny", rule: { origin: { name: "changed" } } });
    expect(refusal(() => at.ask(read, {}))).toEqual([
      "changed",
      expect.stringContaining("files.read changed: its definition differs"),
    ]);
  });

  test("is asked about whatever was allowed before, until it is wanted for good", async () => {
    await using at = await desk({ rules: [trust("files")] });
    expect(at.ask(read, {})).toBe(false);
    at.marks.see("files", changedRead);
    await question(at.ask(read, {})).onConfirm(ProceedOnce);
    expect(at.redeem(read, {})).toMatch(/^[0-9a-f]{64}$/);
    expect(refusal(() => at.redeem(read, {}))).toEqual(notConfirmed);
    await question(at.ask(read, {})).onConfirm(ProceedAlwaysTool);
    expect(at.ask(read, {})).toBe(false);
  });

  test("is shown once where a person is asked every time anyway", async () => {
    await using at = await desk();
    at.marks.see("files", changedRead);
    const details = question(at.ask(read, {}));
    expect(details.change).toHaveLength(1);
    await details.onConfirm(ProceedOnce);
    expect(question(at.ask(read, {})).change).toBeUndefined();
  });

  test("that comes while a person thinks makes their yes worth nothing", async () => {
    await using at = await desk();
    const details = question(at.ask(read, {}));
    at.marks.see("files", changedRead);
    await details.onConfirm(ProceedAlwaysServer);
    expect(refusal(() => at.redeem(read, {}))).toEqual(notConfirmed);
  });

  test("is told as the reason, unless the user's own rule asks about what the user types", async () => {
    await using at = await desk({ rules: [rule("user", "ask_user", "files")] });
    at.marks.see("files", changedRead);
    const reasons = (["user", "model"] as const).map((who) => {
      const request = { ...read, who, args: {} };
      return at.question(request, at.decide(request), read).rule?.text;
    });
    expect(reasons).toEqual(["a rule in user.toml:1 asks about it", "the rule for changed definitions asks about it"]);
  });

  test("is accepted by the user's yes to a typed call, and not by one to a model's", async () => {
    for (const who of ["user", "model"] as const) {
      await using at = await desk({ rules: [trust("files")] });
      at.marks.see("files", changedRead);
      const request = { ...read, who, args: {} };
      await at.question(request, at.decide(request), read).onConfirm(ProceedOnce);
      expect(at.marks.changeOf(read) === undefined).toBe(who === "user");
    }
  });

  test("is not run in yolo mode either", async () => {
    await using at = await desk({ mode: "yolo" });
    expect(at.ask(read, {})).toBe(false);
    at.marks.see("files", changedRead);
    expect(at.ask(read, {})).not.toBe(false);
  });
});

test.each([
  ["the default", [], "allow"],
  ["a workspace that asks", [rule("workspace", "ask_user", "files")], "allow"],
  ["a workspace that denies", [rule("workspace", "deny", "files")], "deny"],
  ["a user who wants to be asked", [rule("user", "ask_user", "files")], "ask_user"],
  ["an administrator who does", [rule("administrator", "ask_user", "files")], "ask_user"],
] as const)("what is typed meets %s", async (_, rules, decision) => {
  await using at = await desk({ rules, mode: "plan", interactive: false });
  expect(at.typed({ ...read, args: {} }).decision).toBe(decision);
  at.marks.see("files", changedRead);
  expect(at.typed({ ...read, args: {} }).decision).toBe(decision === "deny" ? "deny" : "ask_user");
});

describe("reading a resource", () => {
  const note = { ...asked("files", "note://one"), kind: "resource" } as const;
  const other = { ...asked("files", "note://two"), kind: "resource" } as const;
  const ask = (at: Desk, request: PolicyRequest & AskedTool): ToolCallConfirmationDetails =>
    at.question(request, at.decide(request), request);

  test("always is offered unless a rule asks each time", async () => {
    await using at = await desk();
    expect(ask(at, note)).toMatchObject({
      args: { uri: "note://one" },
      outcomes: [ProceedOnce, ProceedAlwaysServer, Cancel],
    });
    await using strict = await desk({ rules: [{ ...rule("user", "ask_user", "files"), kind: "resource" }] });
    expect(ask(strict, note).outcomes).toEqual([ProceedOnce, Cancel]);
  });

  test("always is for every resource of the server, and for no tool", async () => {
    await using at = await desk();
    await ask(at, note).onConfirm(ProceedAlwaysServer);
    expect([note, other, { ...note, serverName: "a.b" }, read].map((one) => at.verdict(one).decision)).toEqual([
      "allow",
      "allow",
      "ask_user",
      "ask_user",
    ]);
  });

  test("once is for this resource, once", async () => {
    await using at = await desk();
    await ask(at, note).onConfirm(ProceedOnce);
    expect([other, note, note].map((one) => at.takeConfirmation(one))).toEqual([false, true, false]);
    expect(at.verdict(note).decision).toBe("ask_user");
  });
});
