import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import { type WebServer, webServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openTerminalHere } from "../support/terminal-here.ts";

/** A server that repeats everything it is told: on stderr, in its name and in results. */
const talkative = (serve: string): string => `import { serve } from ${JSON.stringify(serve)};
const told = [...process.argv.slice(2), ...Object.values(process.env)];
console.error(told.join("\\n"));
serve({
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: told.join(" "), version: "1" }, instructions: told.join(" ") }),
  "tools/list": () => ({ tools: [{ name: "tell", description: told.join(" "), inputSchema: { type: "object" } }] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: "seed-result-1" }], structuredContent: { "seed-key-2": "seed-structured-3", ...given } }),
});
`;

/** Everything that must not be in a report contains this word. */
const seed = /seed/i;
let here: Machine;
let web: WebServer;

beforeAll(async () => {
  here = await machine();
  web = await webServer(({ headers, path }, response) => {
    response.writeHead(403, { "content-type": "text/plain" });
    response.end(`denied: ${headers.authorization} ${String(headers["x-trace"])} ${path}`);
  });
  const serve = pathToFileURL(join(import.meta.dirname, "../../../test-servers/src/programs/serve.mjs")).href;
  await here.write("talkative.mjs", talkative(serve));
  await here.write("home/.gemini/.env", "DOTENV_VALUE=seedDotenv4\n");
  const entry = {
    command: process.execPath,
    args: [join(here.path, "talkative.mjs"), "--token", "seed-argument", "$DOTENV_VALUE", "$GIVEN_TOKEN"],
    env: {
      API_KEY: "seedenv",
      REGION: "seedregion",
      PEM: "-----BEGIN PRIVATE KEY-----\nSEEDSEED\n-----END PRIVATE KEY-----",
      STORED: "${secret:STORED}",
    },
    apiToken: "seed-unknown-5",
    timeout: "seed-invalid-6",
  };
  const { timeout: _timeout, ...valid } = entry;
  const address = new URL("/mcp?api_key=seedquery7", web.origin);
  const httpUrl = address.href.replace("//", "//user:seedpassword@");
  await here.write(userFile, {
    mcpServers: {
      talkative: valid,
      invalid: entry,
      web: {
        httpUrl,
        headers: { "X-Trace": "seedheader", Authorization: "Bearer seedbearer8" },
        oauth: { clientSecret: "seedclient9" },
      },
      tokens: { httpUrl: `${web.origin}/tokens` },
    },
    fairlead: { unknown: "seed-top-10" },
  });
  await here.runWith({ stdin: "seedstored11" }, "secret", "set", "STORED");
  const { origin } = web;
  await openTokenStorage({
    state: join(here.home, ".fairlead"),
    env: here.env,
    platform: process.platform,
  }).saveCredentials({
    serverName: "tokens",
    serverUrl: `${origin}/tokens`,
    resource: `${origin}/tokens`,
    issuer: origin,
    client: { clientId: "known", redirectUri: "http://127.0.0.1:1/back" },
    endpoints: { token: `${origin}/token` },
    tokens: { accessToken: "seedaccess12", tokenType: "Bearer", refreshToken: "seedrefresh13", obtainedAt: Date.now() },
    scopes: [],
  });
  const env = { GIVEN_TOKEN: "seedgiven14" };
  const { code, stdout } = await here.runWith({ env }, "call", "talkative.tell", "given=seedtold15", "--debug");
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(seed) });
});
afterAll(async () => {
  await web[Symbol.asyncDispose]();
  await here[Symbol.asyncDispose]();
});

const env = { GIVEN_TOKEN: "seedgiven14" };

describe("a bug report", () => {
  test.each([[], ["talkative"], ["web"], ["tokens"], ["invalid"]])("has no secret, with %s", async (...names) => {
    const { code, stdout, stderr } = await here.runWith(
      { env },
      "bug-report",
      ...names,
      "--yes",
      "-o",
      `${names[0] ?? "all"}.md`,
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const file = await readFile(join(here.project, `${names[0] ?? "all"}.md`), "utf8");
    expect(stdout).toBe(`${file}\n`);
    const lines = file.split("\n").filter((line) => seed.test(line));
    expect(lines).toEqual([]);
  });

  test("has versions, keys of settings, states, log lines and messages without content", async () => {
    const { stdout } = await here.runWith({ env }, "bug-report", "talkative", "--yes", "-o", "whole.md");
    expect(stdout).toContain("fairlead 0.0.0-source\n");
    expect(stdout).toContain(`node ${process.version}\n`);
    expect(stdout).toContain('"API_KEY": "(text)"');
    expect(stdout).toMatch(/"name": "talkative",\n {2}"status": "connected"/);
    expect(stdout).toMatch(
      /wire sent tools\/call #\d+ .*"name":"\(text of 4\)","arguments":"\(object with 1 members\)"/,
    );
    expect(stdout).toMatch(/received response to tools\/call #\d+ .* result \{"content":"\(list of 1\)"/);
    expect(stdout).toMatch(
      /## Connection to talkative: last messages[\s\S]*received response to initialize .*"protocolVersion":"2025-11-25"/,
    );
    expect(stdout).toMatch(/list tools\/list: 1 items/);
    expect(stdout).not.toContain(here.home);
  });

  test("can be read by its owner only, and replaces no file", async () => {
    await writeFile(join(here.project, "mine.md"), "mine");
    const refused = await here.run("bug-report", "--yes", "-o", "mine.md");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("the file exists") });
    expect(await readFile(join(here.project, "mine.md"), "utf8")).toBe("mine");
    expect(await here.run("bug-report", "--yes", "-o", "new.md")).toMatchObject({ code: 0 });
    expect((await stat(join(here.project, "new.md"))).mode & 0o777).toBe(0o600);
  });

  test("says that the folder of its file does not exist, and how to make it", async () => {
    const { code, stderr } = await here.run("bug-report", "--yes", "-o", "no folder/new.md");
    const folder = join(here.project, "no folder");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `fairlead: ${join(folder, "new.md")} cannot be written: there is no folder ${folder}\n  next: mkdir -p '${folder}'\n`,
    });
  });

  test("needs --yes without a terminal", async () => {
    const { code, stdout, stderr } = await here.run("bug-report", "web");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("next: fairlead bug-report web --yes");
  });

  test("is one document with --json", async () => {
    const { stdout } = await here.run("bug-report", "--yes", "--json", "-o", "json.md");
    const { schemaVersion, written, file, text } = JSON.parse(stdout) as Record<string, unknown>;
    expect({ schemaVersion, written, file }).toEqual({
      schemaVersion: 1,
      written: true,
      file: join(here.project, "json.md"),
    });
    expect(text).toBe(await readFile(join(here.project, "json.md"), "utf8"));
  });

  test("is shown on a terminal before it is written, and only a yes writes it", async () => {
    const before = await readdir(here.project);
    await using no = openTerminalHere(here, "bug-report");
    await no.until(/Write this report to .*\[y\/N\]/s);
    no.type("\r");
    expect(await no.exitCode).toBe(0);
    expect(await readdir(here.project)).toEqual(before);
    await using yes = openTerminalHere(here, "bug-report", "-o", "asked.md");
    await yes.until(/Write this report to .*\[y\/N\]/s);
    yes.type("y\r");
    expect(await yes.exitCode).toBe(0);
    expect(await readFile(join(here.project, "asked.md"), "utf8")).toContain("# Fairlead bug report");
  });

  test("of a server that is not configured is refused", async () => {
    expect(await here.run("bug-report", "talkativ", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "talkative"'),
    });
  });
});
