import { describe, expect, test } from "vitest";
import { readCheckFile } from "../../src/checks/check-file.ts";
import type { CheckedResult } from "../../src/checks/compare-result.ts";
import { type CheckedServer, runChecks, Snapshots } from "../../src/checks/run-checks.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";

const text = (words: string, more: Partial<CheckedResult> = {}): CheckedResult => ({
  content: [{ type: "text", text: words }],
  isError: false,
  ...more,
});

/** A server whose tools answer from a table; each call takes as many milliseconds as the test says. */
function serverOf(answers: Readonly<Record<string, CheckedResult>>, given: Partial<CheckedServer> = {}): CheckedServer {
  return {
    tools: Object.keys(answers).map((name) => ({ name, inputSchema: { type: "object" } })),
    call: async (tool) => answers[tool] ?? text(`no tool ${tool}`, { isError: true }),
    listing: async () => [],
    redact: (words) => words.replaceAll("s3cret", "(hidden)"),
    hidesResults: false,
    ...given,
  };
}

async function outcomesOf(
  document: object,
  server: CheckedServer,
  snapshots: Snapshots = new Snapshots({}, false),
  times: readonly number[] = [],
) {
  const left = [...times];
  let now = 0;
  const clock = { now: () => (now += left.shift() ?? 0), after: () => () => {} };
  const validator = createValidator();
  const outcomes = await runChecks(readCheckFile({ server: "s", ...document }, "c.yaml"), server, {
    snapshots,
    validator,
    clock,
  });
  await validator.close();
  return outcomes;
}

const problemsOf = async (...given: Parameters<typeof outcomesOf>) =>
  (await outcomesOf(...given)).flatMap(({ problems }) => problems);

const expecting = (expect: object) => ({ checks: [{ call: "a", expect }] });

describe("a result", () => {
  const server = serverOf({
    a: text('{"size": 3}', { structuredContent: { size: 3, tags: ["x"], owner: { name: "Ada", id: 1 } } }),
  });

  test.each([
    ["text", { text: '{"size": 3}' }, { text: "other" }, 'the text is "{\\"size\\": 3}", expected "other"'],
    ["contains", { contains: "size" }, { contains: ["size", "more"] }, 'does not contain "more"'],
    ["matches", { matches: "size.: \\d" }, { matches: "^3" }, "does not match ^3"],
    [
      "structured",
      { structured: { owner: { name: "Ada" } } },
      { structured: { owner: { name: "Bob" }, tags: [] } },
      'structured.owner.name is "Ada", expected "Bob"',
    ],
    ["a list", { structured: { tags: ["x"] } }, { structured: { tags: ["x", "y"] } }, 'structured.tags is ["x"]'],
    ["schema", { schema: { required: ["size"] } }, { schema: { required: ["price"] } }, "price"],
    ["isError", { isError: false }, { isError: true }, "the call succeeded, but an error was expected"],
  ])("is compared by %s", async (_what, right, wrong, problem) => {
    expect(await problemsOf(expecting(right), server)).toEqual([]);
    expect((await problemsOf(expecting(wrong), server)).join("\n")).toContain(problem);
  });

  test("that is an error fails, unless it is expected", async () => {
    const failing = serverOf({ a: text("no s3cret", { isError: true }) });
    expect(await problemsOf(expecting({}), failing)).toEqual(["the call failed: no (hidden)"]);
    expect(await problemsOf(expecting({ isError: true, contains: "no" }), failing)).toEqual([]);
  });
});

test("tools are compared: those that must be there, and with exact no others", async () => {
  const server = serverOf({ a: text(""), b: text("") });
  expect(await outcomesOf({ tools: { include: ["a"] } }, server)).toEqual([
    { name: "tools", durationMs: 0, problems: [], status: "passed" },
  ]);
  expect(await problemsOf({ tools: { include: ["a", "c"], exact: true } }, server)).toEqual([
    'the tool "c" is missing',
    'the tool "b" is not expected',
  ]);
});

describe("a snapshot", () => {
  const result = text("id 0b0e7a3c-9d3f-4a55-8f0e-0d7f3b2a1c9d at 2026-01-31T08:30:00Z, req-17, s3cret");
  const document = { mask: ["req-[0-9]+"], checks: [{ call: "a", expect: { snapshot: true } }] };

  test("hides secrets, masks ids and times, and is compared in the next run", async () => {
    const written = new Snapshots({}, true);
    expect(await outcomesOf(document, serverOf({ a: result }), written)).toMatchObject([{ status: "updated" }]);
    const file = JSON.parse(written.changedText() ?? "") as { snapshots: Record<string, unknown> };
    expect(file.snapshots).toEqual({
      a: { content: [{ type: "text", text: "id <uuid> at <time>, <masked>, (hidden)" }] },
    });
    const kept = (): Snapshots => new Snapshots(file.snapshots, false);
    const later = text("id 11111111-9d3f-4a55-8f0e-0d7f3b2a1c9d at 2027-01-31T08:30:00Z, req-18, s3cret");
    expect(await problemsOf(document, serverOf({ a: later }), kept())).toEqual([]);
    expect(await problemsOf(document, serverOf({ a: text("other") }), kept())).toEqual([
      'result.content[0].text is "other", in the snapshot "id <uuid> at <time>, <masked>, (hidden)"',
    ]);
  });

  test("shows long texts from just before the place where they differ", async () => {
    const before = { a: { content: [{ type: "text", text: `${"x".repeat(1000)}one` }] } };
    const server = serverOf({ a: text(`${"x".repeat(1000)}two`) });
    const same = `…${"x".repeat(60)}`;
    expect(await problemsOf(document, server, new Snapshots(before, false))).toEqual([
      `result.content[0].text is ${same}two", in the snapshot ${same}one"`,
    ]);
  });

  test("holds the error flag, the size of media, and the structured content", async () => {
    const image = { type: "image" as const, mimeType: "image/png", data: Buffer.from("12345").toString("base64") };
    const failed: CheckedResult = { content: [image], isError: true, structuredContent: { a: 1 } };
    const snapshots = new Snapshots({}, true);
    const checks = [{ call: "a", expect: { snapshot: true, isError: true } }];
    expect(await outcomesOf({ checks }, serverOf({ a: failed }), snapshots)).toMatchObject([{ status: "updated" }]);
    expect(JSON.parse(snapshots.changedText() ?? "")).toEqual({
      schemaVersion: 1,
      snapshots: {
        a: { isError: true, content: [{ ...image, data: "<5 bytes>" }], structuredContent: { a: 1 } },
      },
    });
  });

  test("of the tools holds what a model sees of each", async () => {
    const [inputSchema, outputSchema] = [{ type: "object" }, { type: "object", title: "out" }] as const;
    const full = { description: "d", inputSchema, outputSchema, annotations: { title: "t" } };
    const tools = [
      { name: "full", title: "not compared", ...full },
      { name: "bare", inputSchema },
    ];
    const snapshots = new Snapshots({}, true);
    const ofTools = { tools: { snapshot: true } };
    expect(await outcomesOf(ofTools, serverOf({}, { tools }), snapshots)).toMatchObject([{ status: "updated" }]);
    const kept = { tools: { full, bare: { inputSchema } } };
    expect(JSON.parse(snapshots.changedText() ?? "")).toEqual({ schemaVersion: 1, snapshots: kept });
    const changed = [{ name: "bare", inputSchema, description: "new" }];
    expect(await problemsOf(ofTools, serverOf({}, { tools: changed }), new Snapshots(kept, false))).toEqual([
      expect.stringContaining("result.full is nothing, in the snapshot "),
      'result.bare.description is "new", in the snapshot nothing',
    ]);
  });

  test("that is missing fails, and a server with hideResults has none", async () => {
    expect(await problemsOf(document, serverOf({ a: result }))).toEqual([
      "there is no snapshot yet: run the command again with --update",
    ]);
    const snapshots = new Snapshots({}, true);
    expect(await problemsOf(document, serverOf({ a: result }, { hidesResults: true }), snapshots)).toEqual([
      "snapshots are off for this server: hideResults is set",
    ]);
    expect(snapshots.changedText()).toBeUndefined();
  });
});

test("a report about a server with hideResults does not quote its results", async () => {
  const server = serverOf({ a: text("salary") }, { hidesResults: true });
  expect(await problemsOf(expecting({ text: "salary" }), server)).toEqual([]);
  expect(await problemsOf(expecting({ text: "other", contains: "x" }), server)).toEqual([
    "the result differs from the expectation; the details are hidden because hideResults is set",
  ]);
});

test("latency is compared with a baseline call", async () => {
  const checks = [{ call: "a" }, { name: "slow", call: "b", expect: { latency: { baseline: "a", ratio: 3 } } }];
  const server = serverOf({ a: text(""), b: text("") });
  expect(await problemsOf({ checks }, server, undefined, [0, 10, 0, 30])).toEqual([]);
  expect(await problemsOf({ checks }, server, undefined, [0, 10, 0, 40])).toEqual([
    'the call took 4.0 times as long as "a", expected at most 3',
  ]);
  // A baseline below a millisecond counts as one.
  expect(await problemsOf({ checks }, server, undefined, [0, 0.5, 0, 3])).toEqual([]);
  expect(await problemsOf({ checks }, server, undefined, [0, 0, 0, 3.5])).toEqual([
    'the call took 3.5 times as long as "a", expected at most 3',
  ]);
});

test("each outcome names its check, tool, duration and problems, and is reported as soon as it is there", async () => {
  const calls: unknown[] = [];
  const server = serverOf({ a: text("one"), b: text("two") });
  const watched: CheckedServer = {
    ...server,
    call: (tool, args) => {
      calls.push([tool, args]);
      return server.call(tool, args);
    },
  };
  const file = readCheckFile(
    {
      server: "s",
      tools: { include: ["c"], snapshot: true },
      checks: [
        { name: "first", call: "a", arguments: { x: 1 }, expect: { text: "one" } },
        { call: "b", expect: { text: "s3cret", snapshot: true } },
      ],
    },
    "c.yaml",
  );
  const left = [5, 1, 5, 20, 5, 300];
  let now = 0;
  const clock = { now: () => (now += left.shift() ?? 0), after: () => () => {} };
  const reported: unknown[] = [];
  const outcomes = await runChecks(file, watched, {
    snapshots: new Snapshots({}, true),
    validator: { validate: async () => ({ issues: [], warnings: [] }) },
    clock,
    onOutcome: (outcome) => reported.push([outcome, calls.length]),
  });
  expect(outcomes).toEqual([
    { name: "tools", durationMs: 1, problems: ['the tool "c" is missing'], status: "failed" },
    { name: "first", tool: "a", durationMs: 20, problems: [], status: "passed" },
    { name: "b", tool: "b", durationMs: 300, problems: ['the text is "two", expected "(hidden)"'], status: "failed" },
  ]);
  expect(reported).toEqual(outcomes.map((outcome, at) => [outcome, at]));
  expect(calls).toEqual([
    ["a", { x: 1 }],
    ["b", {}],
  ]);
});

test("a tool with readOnlyHint that changes the server's lists is flagged", async () => {
  const resources = ["resource file:///a"];
  const server = serverOf(
    {},
    {
      tools: [{ name: "peek", inputSchema: {}, annotations: { readOnlyHint: true } }],
      listing: async () => [...resources],
      async call() {
        resources.push("resource file:///b");
        return text("ok");
      },
    },
  );
  expect(await problemsOf({ checks: [{ call: "peek" }] }, server)).toEqual([
    '"peek" has the annotation readOnlyHint, but the call changed the server\'s lists: added resource file:///b',
  ]);
});

test("the changes of a read-only tool are all named; another tool may change the lists and is not watched", async () => {
  let listed = ["a", "b"];
  let asked = 0;
  const server = serverOf(
    {},
    {
      tools: [
        { name: "peek", inputSchema: {}, annotations: { readOnlyHint: true } },
        { name: "write", inputSchema: {}, annotations: { readOnlyHint: false } },
      ],
      async listing() {
        asked += 1;
        return listed;
      },
      async call(_tool, { now }) {
        listed = now as string[];
        return text("ok");
      },
    },
  );
  const change = (call: string, now: readonly string[]) => ({ checks: [{ call, arguments: { now } }] });
  expect(await problemsOf(change("peek", ["b", "a"]), server)).toEqual([]);
  expect(asked).toBe(2);
  expect(await problemsOf(change("peek", ["b", "c", "d"]), server)).toEqual([
    '"peek" has the annotation readOnlyHint, but the call changed the server\'s lists: added c, added d, removed a',
  ]);
  expect(await problemsOf(change("peek", ["b", "c"]), server)).toEqual([
    '"peek" has the annotation readOnlyHint, but the call changed the server\'s lists: removed d',
  ]);
  expect(await problemsOf(change("write", []), server)).toEqual([]);
  expect(asked).toBe(6);
});

test("a call of a tool that the server does not list is made, and fails with the server's answer", async () => {
  const checks = [{ call: "gone" }, { call: "bare", expect: { text: "ok" } }];
  expect(await outcomesOf({ checks }, serverOf({ bare: text("ok") }), undefined, [0, 2, 0, 3])).toEqual([
    { name: "gone", tool: "gone", durationMs: 2, problems: ["the call failed: no tool gone"], status: "failed" },
    { name: "bare", tool: "bare", durationMs: 3, problems: [], status: "passed" },
  ]);
});

describe("a file", () => {
  test.each([
    [{ server: "s", check: [] }, 'the document has an unknown member "check"; did you mean "checks"?'],
    [{ checks: [] }, 'it needs either "server" or "command"'],
    [{ server: "s", command: ["x"] }, 'it needs either "server" or "command"'],
    [{ server: "s", checks: [{ name: "x" }] }, "checks[0].call must be a string"],
    [{ server: "s", checks: [{ call: "a", expect: { matches: "(" } }] }, "checks[0].expect.matches cannot be used"],
    [{ server: "s", checks: [{ call: "a" }, { call: "a" }] }, 'two checks have the name "a"'],
    [
      { server: "s", checks: [{ call: "a", expect: { latency: { baseline: "b", ratio: 2 } } }] },
      'the baseline "b" of "a" is not an earlier check',
    ],
    [[], "the document must be an object"],
  ])("with the mistake %j is refused, naming it", (document, mistake) => {
    expect(() => readCheckFile(document, "c.yaml")).toThrow(`c.yaml is not a valid file of checks: ${mistake}`);
  });
});
