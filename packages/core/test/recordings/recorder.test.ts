import { stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createRedactor, hideInMessage } from "../../src/connect/redact.ts";
import { createMessageWriter } from "../../src/connect/redact-message.ts";
import { createRecorder } from "../../src/recordings/recorder.ts";
import { parseRecording, readRecording } from "../../src/recordings/recording.ts";

const plain = createMessageWriter((text) => text, false);
const request = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe("a recorder", () => {
  test("keeps one private file for each server, and continues it in the next run", async () => {
    await using folder = await temporaryFolder();
    for (const _ of [1, 2]) {
      const recorder = createRecorder({ folder: join(folder.path, "new") });
      const record = await recorder.connection("files", plain);
      record("sent", request);
      record("received", { jsonrpc: "2.0", id: 1, result: { tools: [] } });
      await recorder.close();
      expect(recorder.written()).toMatchObject([{ server: "files", messages: 2 }]);
    }
    const file = join(folder.path, "new", "files.jsonl");
    const { header, messages } = await readRecording(file);
    expect(header).toMatchObject({ v: 1, server: "files" });
    expect(messages.map(({ from }) => from)).toEqual(["client", "server", "client", "server"]);
    expect(new Set(messages.map(({ c }) => c)).size).toBe(2);
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  test("replaces a file that was named, but no file that is not a recording", async () => {
    await using folder = await temporaryFolder();
    await folder.write("mine.json", "{}");
    const file = join(folder.path, "a.jsonl");
    for (const _ of [1, 2]) {
      const recorder = createRecorder({ file });
      (await recorder.connection("files", plain))("sent", request);
      await recorder.close();
    }
    expect((await readRecording(file)).messages).toHaveLength(1);
    const refused = createRecorder({ file: join(folder.path, "mine.json") });
    await expect(refused.connection("files", plain)).rejects.toMatchObject({ code: "usage" });
    expect(await folder.read("mine.json")).toBe("{}");
  });

  test("reports a file that cannot be written", async () => {
    await using folder = await temporaryFolder();
    const recorder = createRecorder({ file: join(folder.path, "gone", "a.jsonl") });
    const record = await recorder.connection("files", plain);
    await import("node:fs/promises").then(({ rm }) => rm(join(folder.path, "gone"), { recursive: true }));
    record("sent", request);
    await expect(recorder.close()).rejects.toThrow(/a\.jsonl/);
  });
});

describe("a recording", () => {
  test("that is not there is not_found; one that is broken names the line", async () => {
    await using folder = await temporaryFolder();
    await expect(readRecording(join(folder.path, "no.jsonl"))).rejects.toMatchObject({ code: "not_found" });
    const header = '{"v":1,"kind":"fairlead.recording","server":"s","recordedAt":""}\n';
    expect(() => parseRecording(`${header}{}\n`, "a")).toThrow("a is not a usable recording: line 2 is not a message");
    expect(() => parseRecording("{}\n", "a")).toThrow("header");
    expect(() => parseRecording(header.replace("1", "9"), "a")).toThrow("version 9");
  });

  test("loses only the line during which its writer was killed", () => {
    const header = '{"v":1,"kind":"fairlead.recording","server":"s","recordedAt":""}\n';
    const line = '{"c":"a","at":1,"from":"client","message":{"id":1}}\n';
    expect(parseRecording(`${header}${line}{"c":"a","at`, "a").messages).toHaveLength(1);
  });
});

describe("secrets", () => {
  const secret = "s3cr3t-value-of-a-server";
  const write = createMessageWriter(createRedactor([secret]), false);

  test.each([
    ["in a text", { params: { text: `it is ${secret}` } }],
    ["in base64", { params: { text: Buffer.from(secret).toString("base64") } }],
    ["in a key", { result: { [`k-${secret}`]: 1 } }],
    ["deep in a result", { id: 1, result: { content: [{ type: "text", text: JSON.stringify({ a: secret }) }] } }],
    ["in an error", { id: 1, error: { code: 1, message: secret } }],
    ["after quotes that a pattern could break", { params: { text: `x-api-key: ${secret}\\"more"` } }],
  ])("%s are hidden, and the line is still JSON", (_where, message) => {
    for (const direction of ["sent", "received"] as const) {
      const line = write(direction, message);
      expect(line).not.toContain(secret);
      expect(line).toContain("(hidden)");
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    }
  });

  test("under a telling name are hidden, whatever they are; schemas stay", () => {
    expect(write("sent", { params: { arguments: { password: "x", pin_token: 1234 } } })).toBe(
      '{"params":{"arguments":{"password":"(hidden)","pin_token":"(hidden)"}}}',
    );
    const schema = { result: { inputSchema: { properties: { token: { type: "string" } } } } };
    expect(JSON.parse(write("received", schema))).toEqual(schema);
  });

  test("under a telling name in a result are hidden as in logs, and keep the type that the tool's schema demands", () => {
    const structuredContent = { token: 48_151_623, tokens: ["alpha", 42], nested: { api_key: [{ value: "beta" }] } };
    const message = { id: 1, result: { structuredContent } };
    expect(JSON.parse(write("received", message))).toEqual({
      id: 1,
      result: { structuredContent: { token: 0, tokens: [], nested: { api_key: [] } } },
    });
    for (const value of ["48151623", "alpha", "42", "beta"]) {
      expect(hideInMessage("received", message)).not.toContain(value);
      expect(write("received", message)).not.toContain(value);
    }
    const progress = { method: "notifications/progress", params: { progressToken: 7, progress: 1 } };
    expect(JSON.parse(write("received", progress))).toEqual(progress);
  });

  test("in the results of a server with hideResults are hidden; its lists stay", () => {
    const hiding = createMessageWriter((text) => text, true);
    hiding("sent", { id: 1, method: "tools/call", params: { name: "pay" } });
    hiding("sent", { id: 2, method: "tools/list" });
    const result = { content: [{ type: "text", text: "salary" }], structuredContent: { euros: 5000, open: true } };
    expect(JSON.parse(hiding("received", { id: 1, result }))).toEqual({
      id: 1,
      result: { content: [{ type: "text", text: "(hidden)" }], structuredContent: { euros: 0, open: true } },
    });
    const listed = { id: 2, result: { tools: [{ name: "pay" }] } };
    expect(JSON.parse(hiding("received", listed))).toEqual(listed);
    expect(hiding("received", { method: "notifications/message", params: { data: "salary" } })).not.toContain("salary");
  });
});
