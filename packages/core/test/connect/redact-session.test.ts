/** Secrets that a server repeats: in lists, errors, events and its log, whole or line by line. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { temporaryFolder } from "@fairlead/test-servers";
import type { McpRequestOptions, Session } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createRedactor, createValueRedactor } from "../../src/connect/redact.ts";
import { redactSession } from "../../src/connect/redact-session.ts";
import { createHost } from "../../src/index.ts";
import { scriptedSession } from "../server/scripted-session.ts";

const lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEF/ASCBKcwggSj", "AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2", "bS1+fWIcPm15"];
const pem = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
const token = "only-this-server-knows-it";

/** Repeats its secrets everywhere; `leak` fails with them. */
const program = `
  const { PEM_KEY: key, REGION, PROJECT, AUTH_TYPE } = process.env;
  const { token } = JSON.parse(process.argv.at(-1));
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const text = "key " + key + " and " + token + " in " + REGION;
  process.stderr.write(text + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const inputSchema = { type: "object", properties: { name: { type: "string", description: text, default: token } } };
    const results = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
        serverInfo: { name: "leaky", version: token },
        instructions: text,
      },
      "tools/list": {
        tools: [
          { name: "leak", title: token, description: text, inputSchema },
          { name: "in-key", inputSchema: { type: "object", properties: { [token]: { type: "string" } } } },
          { name: "in-enum", inputSchema: { type: "object", properties: { a: { enum: [{ deep: key }] } } } },
          { name: "in-const", inputSchema: { type: "object", properties: { a: { const: token } } } },
          { name: "in-pattern", inputSchema: { type: "object", properties: { a: { type: "string", pattern: key.split("\\n")[1] } } } },
          { name: "use_" + token, inputSchema: { type: "object" } },
          { name: REGION, inputSchema: { type: "object", properties: { [PROJECT]: { enum: [PROJECT, AUTH_TYPE] } } } },
        ],
      },
      "prompts/list": { prompts: [{ name: "p", description: text }, { name: "q", arguments: [{ name: token }] }] },
      "resources/list": { resources: [{ uri: "x://a", name: "a", description: text }, { uri: "x://b/" + token, name: "b" }] },
    };
    if (method === "tools/call") {
      const { progressToken } = params._meta ?? {};
      send({ method: "notifications/message", params: { level: "info", data: { deep: [text] } } });
      if (progressToken !== undefined) send({ method: "notifications/progress", params: { progressToken, progress: 1, message: text } });
      send({ id, error: { code: -32000, message: "cannot: " + text, data: { text } } });
    } else if (results[method]) send({ id, result: results[method] });
    else send({ id, error: { code: -32601, message: "no " + text } });
  });`;

test("no secret that a server repeats is in a catalog, an error, an event or a file", async () => {
  await using folder = await temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: folder.path, PEM_KEY: pem };
  const environment = { env, home: folder.path, cwd: folder.path, platform: process.platform };
  const entry = {
    command: process.execPath,
    args: ["-e", program, "--", JSON.stringify({ token, verbose: true })],
    env: { PEM_KEY: "$PEM_KEY", REGION: "us-east-1", PROJECT: "a-company-production-2", AUTH_TYPE: "personal_token" },
  };
  const seen: unknown[] = [];
  {
    await using host = await createHost({
      environment,
      trust: true,
      settings: { mcpServers: { leaky: entry } },
      debug: true,
    });
    for (const type of ["state", "catalog", "log", "stderr"] as const) host.on(type, (event) => seen.push(event));
    await host.start();
    const onProgress = (progress: unknown): void => void seen.push(progress);
    seen.push(await host.call("leaky", "leak", {}, { onProgress }).catch((error: unknown) => error));
    seen.push(host.tools(), host.prompts(), host.resources(), host.states(), host.catalog("leaky"));
    // An ordinary word stays readable in what models read.
    expect(host.tools()[0]?.description).toMatch(/^key \(hidden\).* and \(hidden\) in us-east-1$/s);
    const catalog = host.catalog("leaky");
    expect(catalog?.tools.map(({ name }) => name)).toEqual(["leak", "us-east-1"]);
    expect(catalog?.tools[1]?.inputSchema["properties"]).toEqual({
      "a-company-production-2": { enum: ["a-company-production-2", "personal_token"] },
    });
    expect([catalog?.prompts.length, catalog?.resources.length]).toEqual([1, 1]);
    const reason = "a name, key, URI or schema value contains a secret of this server";
    expect(catalog?.dropped).toEqual([
      ...["in-key", "in-enum", "in-const", "in-pattern"].map((name) => ({ kind: "tools", name, reason })),
      { kind: "tools", reason },
      { kind: "prompts", name: "q", reason },
      { kind: "resources", name: "b", reason },
    ]);
  }
  const files = await readdir(join(folder.path, ".fairlead"), { recursive: true, withFileTypes: true });
  for (const file of files) if (file.isFile()) seen.push(await readFile(join(file.parentPath, file.name), "utf8"));
  const everything = inspect(seen, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });
  expect(everything).toContain("cannot: key (hidden)");
  for (const secret of [...lines, token]) expect(everything).not.toContain(secret);
});

test("each line of a value is hidden, also escaped, and what only frames it is not", () => {
  const hide = createValueRedactor([`${pem}\r\nab\r\n`]);
  for (const line of lines) expect(hide(`1: ${line};`)).toBe("1: (hidden);");
  expect(hide("-----BEGIN PRIVATE KEY----- ab")).toBe("-----BEGIN PRIVATE KEY----- ab");
  expect(hide(encodeURIComponent(lines[0] ?? ""))).toBe("(hidden)");
  expect(hide(JSON.stringify({ key: `${pem}\r\nab\r\n` }))).toBe('{"key":"(hidden)"}');
});

test("a private key is hidden although Fairlead does not know its value", () => {
  const redact = createRedactor([]);
  expect(redact(`key: ${pem}rest`)).toBe("key: (hidden)\nrest");
  expect(redact(JSON.stringify(pem))).toBe('"(hidden)\\n"');
  expect(redact("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nabc")).toBe("(hidden)");
  expect(redact("-----BEGIN CERTIFICATE-----\nabc")).toBe("-----BEGIN CERTIFICATE-----\nabc");
});

test("other work gets its turn while secrets are hidden in a page of many short texts", async () => {
  const tools = [{ name: token, tags: Array.from({ length: 100_000 }, () => "a"), last: [token] }];
  const hideValues = createValueRedactor([token]);
  const session = redactSession(scriptedSession({ answers: { "tools/list": { tools } } }), {
    redact: hideValues,
    hideValues,
    hideUnmistakable: (text) => text,
  });
  let turns = 0;
  const done = new AbortController();
  const count = (): void => {
    turns += 1;
    if (!done.signal.aborted) setImmediate(count);
  };
  setImmediate(count);
  const page = await session.request("tools/list");
  done.abort();
  expect(turns).toBeGreaterThan(4);
  expect(page).toMatchObject({ tools: [{ name: token, last: ["(hidden)"] }] });
});

test("what a server asks and logs while a forwarded request is open has no secrets", async () => {
  const hideValues = createValueRedactor([token]);
  let given: McpRequestOptions = {};
  const inner: Session = {
    ...scriptedSession(),
    async request(_method, _params, options = {}) {
      given = options;
      return {};
    },
  };
  const session = redactSession(inner, { redact: hideValues, hideValues, hideUnmistakable: (text) => text });
  const seen: unknown[] = [];
  await session.request(
    "tools/call",
    {},
    {
      owner: "one",
      answer: async (_method, params, _signal, origin) => {
        seen.push(params, origin);
        return {};
      },
      onNotification: (_method, params) => void seen.push(params),
    },
  );
  const origin = { isAmbiguous: false };
  await given.answer?.("elicitation/create", { message: `is it ${token}?` }, new AbortController().signal, origin);
  given.onNotification?.("notifications/message", { data: token });
  expect(given.owner).toBe("one");
  expect(seen).toEqual([{ message: "is it (hidden)?" }, origin, { data: "(hidden)" }]);
});
