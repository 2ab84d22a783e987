/** A read that is lost is sent again only to a server that is the same as before. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../src/index.ts";

/** Exits on the first read, and then runs with `second` in place of `first`. Writes the reads into the file `diary`. */
const program = `
  const { appendFileSync, existsSync } = require("node:fs");
  const { diary, first, second } = JSON.parse(process.argv.at(-1));
  const isSecond = existsSync(diary);
  const { description, instructions } = isSecond ? second : first;
  const results = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { prompts: {}, resources: {} },
      serverInfo: { name: "s", version: "1" },
      instructions,
    },
    "prompts/list": { prompts: [{ name: "review", description }] },
    "resources/list": { resources: [{ uri: "book://one", name: "one" }] },
    "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "Review it." } }] },
    "resources/read": { contents: [{ uri: "book://one", text: "It was a dark night." }] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    if (method === "prompts/get" || method === "resources/read") {
      appendFileSync(diary, method + "\\n");
      if (!isSecond) process.exit(3);
    }
    const result = results[method];
    const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
  });`;

const first = { description: "Reviews a book.", instructions: "Whisper." };

test.each([
  { read: "prompt", what: "the same server", second: first, isRepeated: true },
  { read: "prompt", what: "another prompt", second: { ...first, description: "Praises a book." }, isRepeated: false },
  { read: "prompt", what: "other instructions", second: { ...first, instructions: "Shout." }, isRepeated: false },
  { read: "resource", what: "another prompt", second: { ...first, description: "Praises." }, isRepeated: true },
])("a lost $read is sent again to $what: $isRepeated", async ({ read, second, isRepeated }) => {
  await using folder = await temporaryFolder();
  const env = {
    PATH: process.env["PATH"],
    HOME: folder.path,
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none"),
  };
  const environment = { env, home: folder.path, cwd: folder.path, platform: process.platform };
  const diary = join(folder.path, "diary");
  const entry = { command: process.execPath, args: ["-e", program, "--", JSON.stringify({ diary, first, second })] };
  await using host = await createHost({
    environment,
    recover: false,
    trust: true,
    settings: { mcpServers: { books: entry } },
  });
  const result: Promise<object> =
    read === "prompt" ? host.getPrompt("books", "review") : host.readResource("books", "book://one");
  if (isRepeated) await expect(result).resolves.toBeDefined();
  else await expect(result).rejects.toMatchObject({ code: "lost" });
  expect((await readFile(diary, "utf8")).trim().split("\n")).toHaveLength(isRepeated ? 2 : 1);
});
