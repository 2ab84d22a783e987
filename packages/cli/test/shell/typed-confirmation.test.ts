import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import type { Problem } from "@fairlead/core/settings/define/definition";
import { describe, expect, test } from "vitest";
import { confirmTypedRequest, type TypedRequest } from "../../src/shell/typed-confirmation.ts";
import { writtenOutput } from "../support/written-output.ts";

const { ProceedOnce, Cancel } = ToolConfirmationOutcome;
const call: TypedRequest = { title: "s.t\u001b", isYes: false };
const details: ToolCallConfirmationDetails = {
  type: "mcp",
  title: "t",
  serverName: "s",
  toolName: "t",
  toolDisplayName: "t",
  description: "",
  args: { "a\u001b": "x\u001b", b: [1] },
  rule: { text: "a rule asks\u001b" } as NonNullable<ToolCallConfirmationDetails["rule"]>,
  outcomes: [],
  onConfirm: () => Promise.resolve(),
};
const change = [{ member: "description", before: "old", after: "new\u001b" }];

interface Scene {
  readonly request?: Partial<TypedRequest>;
  readonly details?: Partial<ToolCallConfirmationDetails>;
  /** What the user types. Undefined if there is no terminal. */
  readonly typed?: string;
  readonly problems?: readonly Problem[];
}

async function scene({ request = {}, details: more = {}, typed, problems = [] }: Scene) {
  const { context, stderr } = writtenOutput();
  const isTTY = typed !== undefined;
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const io = { ...context.io, stdin, stderr: Object.assign(context.io.stderr, { isTTY }) };
  const host = { policy: () => Promise.resolve({ problems }) } as Partial<Host> as Host;
  const confirmation = await confirmTypedRequest({ ...call, ...request }, host, { ...context, io });
  stdin.write(typed ?? "");
  const answer = await confirmation.options.confirm?.({ ...details, ...more });
  // Without the escape sequences with which the reader moves the cursor.
  const shown = stripVTControlCharacters(stderr());
  return { ...confirmation, answer, shown };
}

describe("without a terminal", () => {
  test("the request is not confirmed, and nothing is shown", async () => {
    const { answer, shown, options } = await scene({});
    expect({ answer, shown, confirmed: options.confirmed }).toEqual({
      answer: undefined,
      shown: "",
      confirmed: undefined,
    });
  });

  test("--yes confirms the request, and still shows a changed definition", async () => {
    const isYes = true;
    const { answer, shown, options } = await scene({ request: { isYes } });
    expect([answer, shown, options.confirmed]).toEqual([ProceedOnce, "", "in_advance"]);
    const changed = await scene({ request: { isYes }, details: { change } });
    expect([changed.answer, changed.shown]).toEqual([
      ProceedOnce,
      "s.t␛ differs from the accepted definition:\n  description\n    - old\n    + new␛\n",
    ]);
  });

  test("the user is warned of rules that are errors, and of no others", async () => {
    const problem: Problem = { severity: "error", code: "settings_invalid", message: "a bad rule" };
    const problems = [problem, { ...problem, severity: "warning", message: "a doubt" } as const];
    expect((await scene({ problems })).shown).toBe("error: a bad rule\n");
  });
});

describe("on a terminal", () => {
  const request = 's.t␛: a rule asks␛\n  a␛: "x\\u001b"\n  b: [1]\n';

  test.each([
    ["y\n", ProceedOnce],
    ["n\n", Cancel],
    ["\n", Cancel],
  ])("the answer %j gives %s", async (typed, outcome) => {
    const { answer, shown } = await scene({ typed });
    expect(answer).toBe(outcome);
    expect(shown.startsWith(`${request}Call it? [y/N] `)).toBe(true);
  });

  test.each([
    ["tool", request, "Call"],
    ["resource", "s.t␛: a rule asks␛\n", "Read"],
    ["prompt", request, "Get"],
    ["sampling", request, "Answer"],
  ] as const)("a %s is shown with its question", async (kind, text, verb) => {
    const { shown } = await scene({ details: { kind }, typed: "n\n" });
    expect(shown.startsWith(`${text}${verb} it? [y/N] `)).toBe(true);
  });

  test("the progress line is hidden while the user is asked", async () => {
    const { context, stderr } = writtenOutput();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const io = { ...context.io, stdin, stderr: Object.assign(context.io.stderr, { isTTY: true }) };
    const problems: readonly Problem[] = [];
    const host = { policy: () => Promise.resolve({ problems }) } as Partial<Host> as Host;
    const { beside } = await confirmTypedRequest(call, host, { ...context, io });
    const shown: boolean[] = [];
    const { confirm } = beside({
      async hideDuring(ask) {
        shown.push(stderr().includes("Call it?"));
        stdin.write("y\n");
        const answer = await ask();
        shown.push(stderr().includes("Call it?"));
        return answer;
      },
    });
    expect(await confirm?.(details)).toBe(ProceedOnce);
    expect(shown).toEqual([false, true]);
  });

  test("a changed definition is shown before the request", async () => {
    const { rule: _rule, ...without } = details;
    const { shown, answer } = await scene({ details: { ...without, change, args: {} }, typed: "yes\n" });
    expect(answer).toBe(ProceedOnce);
    expect(shown).toMatch(/^s\.t␛ differs from the accepted definition:\n[\s\S]*\ns\.t␛: a rule asks␛\n/);
    expect(shown).toContain("Call it with the changed definition? [y/N] ");
  });
});

describe("the error of a request", () => {
  const advice = "add --yes, or run the command in a terminal and answer yes";
  const failed = async (given: Scene, code: "denied" | "changed" | "call_timeout"): Promise<unknown> => {
    const error = new HostError(code, "m", { next: "n" });
    const { withAdvice } = await scene(given);
    const thrown = await withAdvice(Promise.reject(error)).catch((caught: unknown) => caught);
    return thrown === error
      ? "unchanged"
      : [(thrown as HostError).code, (thrown as HostError).message, (thrown as HostError).next];
  };

  test.each<[given: Scene, code: "denied" | "changed" | "call_timeout", expected: unknown]>([
    [{}, "denied", ["denied", "m", advice]],
    [{}, "changed", ["changed", "m", advice]],
    [{}, "call_timeout", "unchanged"],
    [{ typed: "n\n" }, "denied", ["denied", "m", advice]],
    [{ typed: "y\n" }, "denied", "unchanged"],
    [{ request: { isYes: true } }, "denied", "unchanged"],
  ])("%j with the code %s", async (given, code, expected) => {
    expect(await failed(given, code)).toEqual(expected);
  });

  test("that succeeds or fails otherwise is passed on", async () => {
    const { withAdvice } = await scene({});
    expect(await withAdvice(Promise.resolve(7))).toBe(7);
    const defect = new TypeError("a defect");
    await expect(withAdvice(Promise.reject(defect))).rejects.toBe(defect);
  });
});
