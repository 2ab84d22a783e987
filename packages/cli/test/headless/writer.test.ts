import { Writable } from "node:stream";
import { HostError } from "@fairlead/core/errors";
import type { TurnEvent } from "@fairlead/core/turn/events";
import { describe, expect, test } from "vitest";
import type { OutputFormat } from "../../src/headless/options.ts";
import { createTurnWriter } from "../../src/headless/writer.ts";
import { createOutput } from "../../src/output/output.ts";
import type { Io } from "../../src/shell/verb.ts";
import { denial, failure, media, wholeTurn } from "../support/turn-events.ts";

interface Written {
  readonly stdout: string;
  readonly stderr: string;
}

const model = { provider: "gemini", name: "gemini-2.5-flash" };
const conversation = "20260131-083000-1a2b3c";

function write(
  format: OutputFormat,
  events: readonly TurnEvent[],
  { error, quiet = false, provider = "gemini" }: { error?: HostError; quiet?: boolean; provider?: string } = {},
): Written {
  const written = { stdout: "", stderr: "" };
  const to = (name: "stdout" | "stderr"): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const io = { stdout: to("stdout"), stderr: to("stderr"), env: { PATH: "" }, platform: "linux" } as Partial<Io> as Io;
  const writer = createTurnWriter(format, createOutput(io, { quiet }));
  writer.start({ ...model, provider }, conversation);
  writer.asked();
  writer.asked();
  for (const event of events) writer.event(event);
  writer.end(error);
  return written;
}

function lines(text: string): unknown[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

describe("text", () => {
  test("what the model says, its rounds apart, and nothing else", () => {
    expect(write("text", wholeTurn).stdout).toBe("Let me see.\n\nAda is greeted,\nthe disk is not wiped.\n");
  });

  test("whole lines as they come, the rest at the end, whatever ends it", () => {
    const said: TurnEvent[] = [
      { type: "text", text: "one\ntw" },
      { type: "text", text: "o\n\nthr" },
    ];
    expect(write("text", said).stdout).toBe("one\ntwo\n\n");
    expect(write("text", [...said, { type: "error", error: failure }]).stdout).toBe("one\ntwo\n\nthr\n");
  });

  test("another attempt begins a line of its own", () => {
    const said: TurnEvent[] = [
      { type: "text", text: "I will" },
      { type: "note", message: "it is asked again" },
      { type: "text", text: "I do" },
      { type: "error", error: failure },
    ];
    expect(write("text", said).stdout).toBe("I will\nI do\n");
    expect(JSON.parse(write("json", said).stdout)).toMatchObject({ text: "I do" });
  });

  test("a model that says nothing prints nothing", () => {
    const done: TurnEvent = { type: "done", reason: "stop", text: "", denied: 0, calls: 0 };
    expect(write("text", [done])).toEqual({ stdout: "", stderr: "" });
  });

  test("a sign that is cut in two by the stream is one sign, and none of them does anything to a terminal", () => {
    const said: TurnEvent[] = [
      { type: "text", text: "a\ud83d" },
      { type: "text", text: "\ude00 e" },
      { type: "text", text: "\u0301\r" },
      { type: "text", text: "\n\u001b[2J" },
      { type: "done", reason: "stop", text: "", denied: 0, calls: 0 },
    ];
    expect(write("text", said).stdout).toBe("a😀 e\u0301\n␛[2J\n");
  });

  test("without a model, the results are what there is to say", () => {
    expect(write("text", wholeTurn, { provider: "manual" }).stdout).toBe(
      "Let me see.\nHello, Ada!\n[image]\n\nAda is greeted,\nthe disk is not wiped.\n",
    );
  });
});

const talk = `waiting for demo, disk, slow
slow not available: did not answer in time
  next: npx --no -- fairlead mcp test slow
quarantined: odd.twist: schema: no such type
note: 12 tools were left out
the model did not answer: 429; trying again in 1.3 s
demo.greet {"name":"Ada"}
demo.greet: full result in /kept/1.txt
disk.wipe may not run
  next: npx --no -- fairlead policy allow disk.wipe
demo.picture {}
demo.picture: [image image/png, 8 B]
next: to allow a denied tool, add --allow SERVER.TOOL
`;

describe.each(["text", "json", "stream-json"] as const)("beside %s", (format) => {
  test("stderr says what happens", () => {
    expect(write(format, wholeTurn).stderr).toBe(talk);
  });

  test("or, with --quiet, nothing", () => {
    expect(write(format, wholeTurn, { quiet: true }).stderr).toBe("");
  });

  test("a resource that may not be read is no matter of --allow", () => {
    const read = { type: "call", id: "1", name: "read_resource", server: "notes", args: {}, status: "denied" } as const;
    const { stderr } = write(format, [read, { type: "done", reason: "stop", text: "", denied: 1, calls: 1 }]);
    expect(stderr).toBe('next: to allow a denied resource, add a rule with kind = "resource" to a policy file\n');
  });

  test.each([
    ["changed", "fairlead call demo.greet (shows the change and asks whether to accept it; --yes accepts it)"],
    ["denied", "fairlead policy explain demo.greet"],
  ] as const)("--allow is not advised for a call that is %s with another next step", (code, next) => {
    const target = { name: "greet", server: "demo", serverToolName: "greet", args: {} };
    const call = { type: "call", id: "1", ...target, status: "denied", error: { code, message: "no", next } } as const;
    const done = { type: "done", reason: "stop", text: "", denied: 1, calls: 1 } as const;
    expect(write(format, [call, done]).stderr).toBe(`demo.greet: denied: no\n  next: npx --no -- ${next}\n`);
    const allowable = { ...call, error: { ...call.error, next: "add --allow demo.greet, or: …" } };
    const advice = "next: to allow a denied tool, add --allow SERVER.TOOL\n";
    expect(write(format, [call, allowable, done]).stderr.endsWith(advice)).toBe(true);
  });

  test("a server cannot write lines of ours", () => {
    const evil = "x\n\u001b[2Jnote: all is well";
    const { stderr } = write(format, [
      { type: "quarantined", server: evil, serverToolName: evil, reason: evil },
      { type: "note", message: evil },
      { type: "missing", servers: [{ server: evil, message: evil, next: evil }] },
    ]);
    expect(stderr.split("\n")).toHaveLength(5);
    expect(stderr).not.toContain("\u001b");
  });
});

const calls = [
  {
    id: "1",
    name: "greet",
    server: "demo",
    serverToolName: "greet",
    args: { name: "Ada" },
    status: "ok",
    rule: "--allow",
    display: "Hello, Ada!",
    durationMs: 12,
    files: ["/kept/1.txt"],
  },
  { id: "2", name: "wipe", server: "disk", serverToolName: "wipe", args: {}, status: "denied", error: denial },
  {
    id: "3",
    name: "picture",
    server: "demo",
    serverToolName: "picture",
    args: {},
    status: "ok",
    display: "[image]",
    durationMs: 3,
    media,
  },
];

const report = {
  schemaVersion: 1,
  ok: true,
  model,
  conversation,
  reason: "stop",
  text: "Ada is greeted,\nthe disk is not wiped.",
  calls,
  denied: 1,
  // Two, and one that had to be sent again.
  usage: { requests: 3, inputTokens: 300, outputTokens: 30, cachedTokens: 40 },
  quarantined: [{ server: "odd", serverToolName: "twist", reason: "schema: no such type" }],
  missing: [{ server: "slow", message: "did not answer in time", next: "fairlead mcp test slow" }],
  notes: ["12 tools were left out"],
};

describe("json", () => {
  test("one document with all of it", () => {
    expect(JSON.parse(write("json", wholeTurn).stdout)).toEqual(report);
  });

  test("what the exit code is for stands in it", () => {
    const error = new HostError("denied", "a call was denied");
    expect(JSON.parse(write("json", wholeTurn, { error }).stdout)).toEqual({
      ...report,
      ok: false,
      error: { code: "denied", message: "a call was denied" },
    });
  });

  test("an error in the middle leaves what there was", () => {
    const events = [...wholeTurn.slice(0, -1), { type: "error", error: failure }] as const;
    const { reason: _, ...rest } = report;
    expect(JSON.parse(write("json", events, { error: failure }).stdout)).toEqual({
      ...rest,
      ok: false,
      error: { code: "model", message: "the quota is used up", next: "Wait until tomorrow." },
    });
  });
});

describe("stream-json", () => {
  test("every event on a line of its own, behind the model's name", () => {
    const told = wholeTurn.map((event) => ({ schemaVersion: 1, ...event }));
    expect(lines(write("stream-json", wholeTurn).stdout)).toEqual([
      { schemaVersion: 1, type: "start", model, conversation },
      ...told,
    ]);
  });

  test("the last line is done or error, once", () => {
    const error = { code: "model", message: "the quota is used up", next: "Wait until tomorrow." };
    const last = { schemaVersion: 1, type: "error", error };
    const start = { schemaVersion: 1, type: "start", model, conversation };
    expect(lines(write("stream-json", [], { error: failure }).stdout)).toEqual([start, last]);
    expect(lines(write("stream-json", [{ type: "error", error: failure }], { error: failure }).stdout)).toEqual([
      start,
      last,
    ]);
    const denied = new HostError("denied", "a call was denied");
    expect(lines(write("stream-json", wholeTurn, { error: denied }).stdout).at(-1)).toMatchObject({ type: "done" });
  });

  test("no text breaks a line or does anything to a terminal", () => {
    const text = "a\n\u2028\u001b[2J\u202e";
    const { stdout } = write("stream-json", [{ type: "text", text }]);
    expect(["\u2028", "\u001b", "\u202e"].filter((harm) => stdout.includes(harm))).toEqual([]);
    expect(lines(stdout)[1]).toEqual({ schemaVersion: 1, type: "text", text });
  });
});
