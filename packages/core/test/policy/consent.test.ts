import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { createConsent } from "../../src/policy/consent.ts";
import type { AskedTool } from "../../src/registry/confirmation.ts";
import { ToolConfirmationOutcome } from "../../src/registry/confirmation.ts";

const tool = (serverName: string, serverToolName: string): AskedTool => ({
  serverName,
  serverToolName,
  name: `${serverName}__${serverToolName}`,
  description: "",
});
const read = tool("files", "read");

function consent({ trusted = [], denyTools = [], changed = [] as AskedTool[] } = {}) {
  const marks = new Set(changed);
  return createConsent({
    permissions: () => ({ servers: new Map([["locked", ["look"]]]), denyTools }),
    isTrusted: (server) => (trusted as string[]).includes(server),
    changeOf: (asked) => (marks.has(asked as AskedTool) ? "new" : undefined),
    accept: (asked) => marks.delete(asked as AskedTool),
  });
}

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof HostError ? [error.code, error.message] : error;
  }
}

const notConfirmed = ["denied", "files.read was not confirmed with these arguments"];

test("without trust a person is asked, and shown exactly what would be sent", () => {
  const args = { path: "/a", deep: { list: [1] } };
  const asked = consent().ask({ ...read, annotations: { readOnlyHint: true } }, args);
  expect(asked).toEqual({
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: "files",
    toolName: "read",
    toolDisplayName: "files__read",
    description: "",
    args,
    annotations: { readOnlyHint: true },
    onConfirm: expect.any(Function),
  });
  if (asked === false) throw new Error("not asked");
  args.deep.list.push(2);
  expect(asked.args).toEqual({ path: "/a", deep: { list: [1] } });
  expect(Object.isFrozen(asked.args["deep"])).toBe(true);
});

test("a yes for once is for these arguments, in whatever order, and is used up", async () => {
  const { ask, redeem } = consent();
  const asked = ask(read, { a: 1, b: [2] });
  expect(refusal(() => redeem(read, { a: 1, b: [2] }))).toEqual(notConfirmed);
  if (asked === false) throw new Error("not asked");
  await asked.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  await asked.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  expect(refusal(() => redeem(read, { a: 1, b: [3] }))).toEqual(notConfirmed);
  expect(refusal(() => redeem(tool("files", "write"), { a: 1, b: [2] }))).not.toBeUndefined();
  expect(refusal(() => redeem(read, { b: [2], a: 1 }))).toBeUndefined();
  expect(refusal(() => redeem(read, { a: 1, b: [2] }))).toEqual(notConfirmed);
});

test("a no changes nothing", async () => {
  const { ask, redeem } = consent();
  const asked = ask(read, {});
  if (asked === false) throw new Error("not asked");
  await asked.onConfirm(ToolConfirmationOutcome.Cancel);
  await asked.onConfirm(ToolConfirmationOutcome.ProceedAlwaysServer);
  expect(refusal(() => redeem(read, {}))).toEqual(notConfirmed);
});

describe("always", () => {
  test.each([
    [ToolConfirmationOutcome.ProceedAlwaysTool, "ask_user"],
    [ToolConfirmationOutcome.ProceedAlwaysServer, "allow"],
  ] as const)("%s", async (outcome, another) => {
    const { ask, redeem, decide } = consent();
    const asked = ask(tool("a.b", "c"), {});
    if (asked === false) throw new Error("not asked");
    await asked.onConfirm(outcome);
    expect(decide(tool("a.b", "c"))).toBe("allow");
    expect(ask(tool("a.b", "c"), { x: 1 })).toBe(false);
    expect(refusal(() => redeem(tool("a.b", "c"), { x: 2 }))).toBeUndefined();
    expect(decide(tool("a.b", "d"))).toBe(another);
    expect(decide(tool("a", "b.c"))).toBe("ask_user");
  });
});

test("trust allows, but not what the settings close", () => {
  const { decide, ask, redeem } = consent({ trusted: ["files", "locked"] as never[], denyTools: ["rm"] as never[] });
  expect([read, tool("files", "rm"), tool("locked", "look"), tool("locked", "touch")].map(decide)).toEqual([
    "allow",
    "deny",
    "allow",
    "deny",
  ]);
  const closed = ["denied", "fairlead.permissions.denyTools in the settings does not permit files.rm"];
  expect(refusal(() => ask(tool("files", "rm"), {}))).toEqual(closed);
  expect(refusal(() => redeem(tool("files", "rm"), {}))).toEqual(closed);
});

test("a changed definition is asked about whatever was said before, until a person says yes", async () => {
  const { decide, ask } = consent({ trusted: ["files"] as never[], changed: [read] });
  expect(decide(read)).toBe("ask_user");
  const asked = ask(read, {});
  if (asked === false) throw new Error("not asked");
  await asked.onConfirm(ToolConfirmationOutcome.ProceedAlwaysTool);
  expect(decide(read)).toBe("allow");
});

test("a yes for once to a changed definition is for that one call", async () => {
  const { decide, ask, redeem } = consent({ trusted: ["files"] as never[], changed: [read] });
  const asked = ask(read, {});
  if (asked === false) throw new Error("not asked");
  await asked.onConfirm(ToolConfirmationOutcome.ProceedOnce);
  expect(decide(read)).toBe("ask_user");
  expect(redeem(read, {})).toBe("new");
  expect(refusal(() => redeem(read, {}))).toEqual(notConfirmed);
});

test("an answer that nobody knows is a no", async () => {
  const { decide, ask } = consent({ trusted: ["files"] as never[], changed: [read] });
  const asked = ask(read, {});
  if (asked === false) throw new Error("not asked");
  await asked.onConfirm("garbage" as ToolConfirmationOutcome);
  expect(decide(read)).toBe("ask_user");
});
