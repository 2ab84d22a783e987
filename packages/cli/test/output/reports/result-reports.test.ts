import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import {
  type CallReport,
  outcomeOfCall,
  reportCall,
  reportPrompt,
  reportReading,
} from "../../../src/output/reports/result-reports.ts";
import type { Media } from "../../../src/shell/save-media.ts";
import { writtenOutput } from "../../support/written-output.ts";

const target = { server: "s", tool: "t" };
const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const;
const words = { type: "text", text: "words\n" } as const;
const draw = ({ what, mimeType }: Media) => (what === "image" ? toSafeLine(`<${mimeType}>`) : undefined);

describe("the outcome of a call", () => {
  test("is the result, and for a tool that reports an error also the error", async () => {
    expect(await outcomeOfCall(Promise.resolve({ isError: false, content: [words] }), target)).toEqual({
      content: [words],
    });
    const { error, ...rest } = await outcomeOfCall(Promise.resolve({ isError: true, content: [words] }), target);
    expect(rest).toEqual({ content: [words] });
    expect(error).toMatchObject({
      code: "tool_error",
      message: "s.t reported an error",
      serverName: "s",
    });
  });

  test("is empty if the host fails; anything else is thrown", async () => {
    const error = new HostError("call_timeout", "too slow");
    expect(await outcomeOfCall(Promise.reject(error), target)).toEqual({ content: [], error });
    const defect = new TypeError("a defect");
    await expect(outcomeOfCall(Promise.reject(defect), target)).rejects.toBe(defect);
  });
});

describe("the report of a call", () => {
  const report = { target, durationMs: 7, folder: undefined, draw: undefined, error: undefined };

  async function reported(given: Partial<CallReport>, json = false) {
    const { context, stdout, stderr } = writtenOutput({ json });
    const thrown = await reportCall({ ...report, content: [], ...given }, context).catch((error: unknown) => error);
    return { stdout: json ? (JSON.parse(stdout()) as unknown) : stdout(), stderr: stderr(), thrown };
  }

  test("shows the result, then the warnings", async () => {
    expect(await reported({ content: [words, image], warnings: ["a\u001b", "b"], draw })).toEqual({
      stdout: "words\n<image/png>\n[image image/png, 3 B]\n",
      stderr: "warning: a␛\nwarning: b\n",
      thrown: undefined,
    });
  });

  test("says that a result is empty, unless the call failed", async () => {
    expect(await reported({})).toEqual({ stdout: "", stderr: "s.t returned an empty result\n", thrown: undefined });
    const error = new HostError("call_timeout", "too slow");
    expect(await reported({ error })).toEqual({ stdout: "", stderr: "", thrown: error });
    expect(await reported({ error, content: [words] })).toEqual({ stdout: "words\n", stderr: "", thrown: error });
  });

  test("with --json is one document, with only the members that are needed", async () => {
    const document = { schemaVersion: 1, server: "s", tool: "t", durationMs: 7 };
    expect(await reported({ content: [{ type: "unknown", raw: { type: "x" } }] }, true)).toEqual({
      stdout: { ...document, ok: true, content: [{ type: "x" }], display: '[content of the unknown type "x"]' },
      stderr: "",
      thrown: undefined,
    });
    const error = new HostError("call_timeout", "too slow", { next: "wait" });
    expect(await reported({ error, structuredContent: { a: 1 }, warnings: ["w"] }, true)).toEqual({
      stdout: {
        ...document,
        ok: false,
        content: [],
        structuredContent: { a: 1 },
        display: '{\n  "a": 1\n}',
        warnings: ["w"],
        error: { code: "call_timeout", message: "too slow", next: "wait" },
      },
      stderr: "warning: w\n",
      thrown: error,
    });
  });

  test("names the files of images, and warns of those that cannot be written", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s-t-1.png");
    expect(await reported({ content: [image, words], folder: folder.path })).toEqual({
      stdout: `[image image/png, 3 B] saved as ${path}\nwords\n`,
      stderr: "",
      thrown: undefined,
    });
    const { stdout } = await reported({ content: [image], folder: folder.path }, true);
    expect(stdout).toMatchObject({ saved: [join(folder.path, "s-t-2.png")] });
    expect(stdout).not.toHaveProperty("warnings");
    const gone = join(folder.path, "gone");
    const unsaved = await reported({ content: [image], folder: gone, warnings: ["first"] }, true);
    expect(unsaved.stdout).toMatchObject({
      warnings: ["first", expect.stringContaining(`cannot save the image into ${gone}: `)],
    });
    expect(unsaved.stdout).not.toHaveProperty("saved");
  });
});

describe("the report of a prompt", () => {
  const report = { server: "s", prompt: "p", folder: undefined, draw };
  const messages = [
    { role: "user", content: { type: "text", text: "one\n\nuser:" } },
    { role: "assistant", content: { type: "resource", resource: { uri: "x://1\u001b", text: "inside" } } },
  ] as const;

  test("has each message under its role, indented", async () => {
    const { context, stdout, stderr } = writtenOutput();
    await reportPrompt({ ...report, result: { messages: [...messages], notes: ["n\u001b"] } }, context);
    expect(stdout()).toBe("user:\n  one\n\n  user:\n\nassistant:\n  [resource x://1␛]\n  inside\n");
    expect(stderr()).toBe("warning: n␛\n");
  });

  test("draws images, and names their files", async () => {
    await using folder = await temporaryFolder();
    const result = { messages: [{ role: "user", content: image } as const], notes: [] };
    const { context, stdout } = writtenOutput();
    await reportPrompt({ ...report, folder: folder.path, result }, context);
    const path = join(folder.path, "s-p-1.png");
    expect(stdout()).toBe(`user:\n  <image/png>\n  [image image/png, 3 B] saved as ${path}\n`);
    const document = writtenOutput({ json: true });
    const gone = join(folder.path, "gone");
    await reportPrompt({ ...report, folder: gone, result: { ...result, notes: ["n"] } }, document.context);
    expect(JSON.parse(document.stdout())).toEqual({
      schemaVersion: 1,
      server: "s",
      prompt: "p",
      messages: [{ role: "user", content: image }],
      warnings: ["n", expect.stringContaining(`cannot save the image into ${gone}: `)],
    });
  });

  test("says that there are no messages", async () => {
    const { context, stdout, stderr } = writtenOutput();
    await reportPrompt({ ...report, result: { messages: [], notes: [] } }, context);
    expect({ stdout: stdout(), stderr: stderr() }).toEqual({ stdout: "", stderr: 'p of "s" has no messages\n' });
  });

  test("with --json has the description, and each content as the server sent it", async () => {
    await using folder = await temporaryFolder();
    const { context, stdout, stderr } = writtenOutput({ json: true });
    const content = { type: "unknown", raw: { type: "x" } } as const;
    const sent = [{ role: "user", content } as const, { role: "user", content: image } as const];
    await reportPrompt(
      { ...report, folder: folder.path, result: { description: "D", messages: sent, notes: [] } },
      context,
    );
    expect(JSON.parse(stdout())).toEqual({
      schemaVersion: 1,
      server: "s",
      prompt: "p",
      description: "D",
      messages: [
        { role: "user", content: { type: "x" } },
        { role: "user", content: image },
      ],
      saved: [join(folder.path, "s-p-1.png")],
    });
    expect(stderr()).toBe("");
  });
});

describe("the report of a reading", () => {
  const address = { server: "s", uri: "x://all" };
  const text = { uri: "x://1", text: "one\n" };
  const blob = { uri: "x://2\u001b", mimeType: "image/png", blob: "AAAA" };
  const drawAll = () => safe`<drawn>`;

  async function reported(
    contents: readonly (typeof text | typeof blob)[],
    { json = false, notes = [] as readonly string[], isTTY = false, drawn = false } = {},
  ) {
    const { context, stdout, stderr } = writtenOutput({ json, isTTY });
    const result = { contents: [...contents], notes: [...notes] };
    await reportReading({ address, result, destination: undefined, draw: drawn ? drawAll : undefined }, context);
    return { stdout: stdout(), stderr: stderr() };
  }

  test("is the text of a single part, and several parts have their addresses above", async () => {
    expect(await reported([text])).toEqual({ stdout: "one\n", stderr: "" });
    expect(await reported([text, blob], { isTTY: true, drawn: true, notes: ["n\u001b"] })).toEqual({
      stdout: "\u001b[1mx://1\u001b[22m\none\n\n\u001b[1mx://2␛\u001b[22m\n<drawn>\n[resource image/png, 3 B]\n",
      stderr: "warning: n␛\nnext: add --save . to save the contents in a file\n",
    });
    expect(await reported([])).toEqual({ stdout: "", stderr: "x://all is empty\n" });
  });

  test("with --json is one document", async () => {
    const document = { schemaVersion: 1, ...address };
    const { stdout, stderr } = await reported([text, blob], { json: true, notes: ["n"] });
    expect(JSON.parse(stdout)).toEqual({ ...document, contents: [text, blob], warnings: ["n"] });
    expect(stderr).toBe("warning: n\n");
    expect(JSON.parse((await reported([], { json: true })).stdout)).toEqual({ ...document, contents: [] });
  });

  test.each([
    [address, { uri: "x://1", text: "one\n" }, "s-x-all-1.txt", "one\n", "text/plain"],
    [{ server: "x", uri: "x://all" }, { uri: "x://1", blob: "b25l" }, "x-all-1.bin", "one", "application/octet-stream"],
    [address, { uri: "x://1", mimeType: "text/csv", text: "" }, "s-x-all-1.csv", "", "text/csv"],
  ])("of %j is saved: %j as %s", async (from, contents, name, bytes, type) => {
    await using folder = await temporaryFolder();
    const destination = { kind: "folder", path: folder.path } as const;
    const result = { contents: [contents], notes: [] };
    const { context, stdout, stderr } = writtenOutput();
    await reportReading({ address: from, result, destination, draw: undefined }, context);
    const path = join(folder.path, name);
    expect(stdout()).toBe(`[resource ${type}, ${bytes.length} B] saved as ${path}\n`);
    expect(stderr()).toBe("");
    expect(await readFile(path, "utf8")).toBe(bytes);
    const again = writtenOutput({ json: true });
    await reportReading({ address: from, result, destination, draw: undefined }, again.context);
    expect(JSON.parse(again.stdout())).toEqual({
      schemaVersion: 1,
      ...from,
      contents: [contents],
      saved: [path.replace("-1.", "-2.")],
    });
  });
});
