import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import {
  askAbout,
  type ConfirmationAnswer,
  confirmThrough,
  isYes,
  mayHaveChanged,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../../src/policy/confirmation.ts";

const tool = { serverName: "s", serverToolName: "pay", name: "s__pay", description: "Pays." };
const { ProceedOnce, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

function question() {
  const answers: unknown[] = [];
  const answer = (...given: unknown[]): void => void answers.push(given);
  return { answers, question: { outcomes: [ProceedOnce, Cancel], answer } };
}

test("a confirmation shows the tool, a frozen copy of its arguments, and what the question adds", () => {
  const args = { list: [{ amount: 1 }], when: null };
  const annotations = { destructiveHint: true };
  const rule = { decision: "ask_user", tier: "default", text: "ask" } as const;
  const details = askAbout({ ...tool, annotations }, args, { ...question().question, rule });
  expect(details).toEqual({
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: "s",
    toolName: "pay",
    toolDisplayName: "s__pay",
    description: "Pays.",
    args: { list: [{ amount: 1 }], when: null },
    annotations,
    rule,
    outcomes: [ProceedOnce, Cancel],
    onConfirm: expect.any(Function) as unknown,
  });
  expect("annotations" in askAbout(tool, args, question().question)).toBe(false);
  args.list.push({ amount: 2 });
  expect(details.args).toEqual({ list: [{ amount: 1 }], when: null });
  const [item] = details.args["list"] as unknown[];
  expect([details.args, details.args["list"], item].map((value) => Object.isFrozen(value))).toEqual([true, true, true]);
});

test("arguments that cannot be copied are refused", () => {
  const ask = () => askAbout(tool, { run: () => {} }, question().question);
  expect(ask).toThrow(
    expect.objectContaining({
      code: "arguments_invalid",
      message: "Invalid parameters: must be JSON",
      serverName: "s",
    }) as Error,
  );
});

test("only the first answer counts", async () => {
  const { answers, question: asked } = question();
  const details = askAbout(tool, {}, asked);
  await details.onConfirm(ProceedOnce, "page");
  await details.onConfirm(Cancel);
  expect(answers).toEqual([[ProceedOnce, "page"]]);
});

test("every answer but a no is a yes, and what is no answer is none", () => {
  const outcomes = Object.values(ToolConfirmationOutcome);
  expect(outcomes.filter(isYes)).toEqual(outcomes.filter((outcome) => outcome !== Cancel));
  expect(isYes(JSON.parse('"yes"'))).toBe(false);
});

describe("a program is asked", () => {
  const details = (answers: unknown[], rule?: ToolCallConfirmationDetails["rule"]) =>
    askAbout(
      tool,
      {},
      {
        outcomes: [ProceedOnce],
        answer: (outcome) => void answers.push(outcome),
        ...(rule && { rule }),
      },
    );
  const { signal } = new AbortController();

  test("and its yes lets the call pass", async () => {
    const answers: unknown[] = [];
    const asked = details(answers);
    const heard: unknown[] = [];
    const confirm = confirmThrough(async (...given) => {
      heard.push(...given);
      return ProceedAlwaysAndSave;
    }, signal);
    await expect(confirm(async () => asked)).resolves.toBeUndefined();
    expect(heard).toEqual([asked, signal]);
    expect(answers).toEqual([ProceedAlwaysAndSave]);
  });

  test("and its no is told to both sides", async () => {
    const answers: unknown[] = [];
    const confirm = confirmThrough(async () => Cancel, signal);
    const error = { code: "denied", message: "s.pay denied: the user declined it", serverName: "s" };
    await expect(confirm(async () => details(answers))).rejects.toMatchObject(error);
    expect(answers).toEqual([Cancel]);
  });

  test("only if there is something to ask", async () => {
    const confirm = confirmThrough(() => Promise.reject(new Error("asked")), signal);
    await expect(confirm(async () => false)).resolves.toBeUndefined();
  });

  test("or the call is denied, if the program cannot ask the user", async () => {
    const answers: unknown[] = [];
    const confirm = confirmThrough(undefined, signal);
    await expect(confirm(async () => details(answers))).rejects.toMatchObject({
      code: "denied",
      message: "s.pay denied: it needs confirmation and this program cannot ask for it",
      serverName: "s",
      next: 'Pass "confirm" to createHost(), or: fairlead policy allow s.pay',
    });
    expect(answers).toEqual([]);
  });

  test("and if its definition may have changed, that is the reason, unless the user said no", async () => {
    const rule = { decision: "ask_user", tier: "default", text: "ask", doubt: "no folder" } as const;
    const about = async (): Promise<ToolCallConfirmationDetails> => details([], rule);
    const doubtful: unknown = await confirmThrough(undefined, signal)(about).catch((error: unknown) => error);
    expect(doubtful).toEqual(mayHaveChanged("s", "s.pay", "no folder"));
    expect(doubtful).toBeInstanceOf(HostError);
    expect(doubtful).toMatchObject({
      code: "denied",
      message: "s.pay denied: its definition may have changed since an earlier run: no folder",
      next: "Make Fairlead's folder writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.",
    });
    const asked = confirmThrough(async () => Cancel, signal)(about);
    await expect(asked).rejects.toThrow("s.pay denied: the user declined it");
  });

  test.each([
    [" not on Fridays ", "s.pay denied: the user declined it: not on Fridays"],
    [" ", "s.pay denied: the user declined it"],
  ])("a no may have a reason: %j", async (because, message) => {
    const answers: unknown[] = [];
    const confirm = confirmThrough(async () => ({ because }), signal);
    await expect(confirm(async () => details(answers))).rejects.toMatchObject({ code: "denied", message });
    expect(answers).toEqual([Cancel]);
  });

  test.each([undefined, null, 7, {}, { because: 7 }, "maybe"])(
    "and everything that is not a yes is a no: %j",
    async (odd) => {
      const answers: unknown[] = [];
      const confirm = confirmThrough(async () => odd as never, signal, true);
      const message = "s.pay denied: the user declined it";
      await expect(confirm(async () => details(answers))).rejects.toMatchObject({ code: "denied", message });
      expect(answers).toEqual([odd === "maybe" ? odd : Cancel]);
    },
  );

  test("other arguments are a no to the first ones, and only where they may be changed", async () => {
    const edit = async (): Promise<ConfirmationAnswer> => ({ args: { amount: 2 } });
    const answers: unknown[] = [];
    const about = async (): Promise<ToolCallConfirmationDetails> => details(answers);
    const refused = confirmThrough(edit, signal)(about);
    await expect(refused).rejects.toMatchObject({ message: "s.pay denied: the user declined it" });
    const edited = confirmThrough(edit, signal, true)(about);
    await expect(edited).rejects.toMatchObject({ code: "denied", args: { amount: 2 } });
    expect(answers).toEqual([Cancel, Cancel]);
    const invalid = confirmThrough(async () => ({ args: [] as never }), signal, true)(about);
    await expect(invalid).rejects.toMatchObject({ code: "arguments_invalid" });
  });
});
