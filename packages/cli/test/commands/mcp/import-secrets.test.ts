import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import { describe, expect, test } from "vitest";
import { cursorFile, type Document, settings } from "../../support/imported.ts";
import { type Ending, type Machine, machine, userFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const env = { FAIRLEAD_SECRET_STORE: "file" };
const server = {
  command: "run",
  args: ["--token", "canary-1", "--api-key=canary-7", "postgres://me:canary-2@db/x", "--mode", "fast"],
  env: {
    API_KEY: "canary-3$",
    DATABASE_URL: "postgres://me:canary-8@db/x",
    MODE: "plain",
    OTHER_TOKEN: "${env:OTHER_TOKEN}",
  },
};
const web = {
  url: "https://example.com/?api_key=canary-4&v=1",
  headers: { Authorization: "Bearer canary-5", Accept: "text/plain" },
  auth: { CLIENT_SECRET: "canary-6" },
};

function run(here: Machine, ...argv: readonly string[]): Promise<Ending> {
  return here.runWith({ env }, "mcp", "import", ...argv);
}

async function importJson(here: Machine, ...argv: readonly string[]): Promise<Document> {
  return JSON.parse((await run(here, "--json", ...argv)).stdout);
}

async function storedSecrets(here: Machine): Promise<Readonly<Record<string, string | undefined>>> {
  const store = await openSecretStore({ directory: `${here.home}/.fairlead`, env, platform: process.platform });
  return Object.fromEntries(await Promise.all((await store.list()).map(async (name) => [name, await store.get(name)])));
}

const inStore = {
  SERVER_TOKEN: "canary-1",
  SERVER_PASSWORD: "canary-2",
  API_KEY: "canary-3$",
  WEB_API_KEY: "canary-4",
  WEB_AUTHORIZATION: "canary-5",
  WEB_CLIENT_SECRET: "canary-6",
  SERVER_API_KEY: "canary-7",
  SERVER_DATABASE_URL_PASSWORD: "canary-8",
};

const referring = {
  server: {
    command: "run",
    args: [
      "--token",
      "${secret:SERVER_TOKEN}",
      "--api-key=${secret:SERVER_API_KEY}",
      "postgres://me:${secret:SERVER_PASSWORD}@db/x",
      "--mode",
      "fast",
    ],
    env: {
      API_KEY: "${secret:API_KEY}",
      DATABASE_URL: "postgres://me:${secret:SERVER_DATABASE_URL_PASSWORD}@db/x",
      MODE: "plain",
      OTHER_TOKEN: "${OTHER_TOKEN}",
    },
  },
  web: {
    url: "https://example.com/?api_key=${secret:WEB_API_KEY}&v=1",
    headers: { Authorization: "Bearer ${secret:WEB_AUTHORIZATION}", Accept: "text/plain" },
    oauth: { clientSecret: "${secret:WEB_CLIENT_SECRET}" },
  },
};

describe("literal secrets", () => {
  test.each([[[]], [["--secrets", "store"]]])("go into the secret store, with %j and no terminal", async (options) => {
    await using here = await machine({ [cursorFile]: { mcpServers: { server, web } } });
    const { code, stdout, stderr } = await run(here, "--write", ...options);
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/canary|plain/);
    expect(stderr).toContain("stored env.API_KEY of server as the secret API_KEY\n");
    expect(stderr).toContain("undo: fairlead secret remove WEB_AUTHORIZATION\n");
    expect(await settings(here)).toEqual({ mcpServers: referring });
    expect(await storedSecrets(here)).toEqual(inStore);
  });

  test("are recognised the second time: nothing is written and nothing is stored", async () => {
    await using here = await machine({ [cursorFile]: { mcpServers: { server, web } } });
    await run(here, "--write");
    const before = await here.read(userFile);
    const document = await importJson(here, "--write");
    expect(document.servers.map(({ action }) => action)).toEqual(["same", "same"]);
    expect([await here.read(userFile), await storedSecrets(here)]).toEqual([before, inStore]);
  });

  test("stay as they are with --secrets keep, and are shown nowhere", async () => {
    await using here = await machine({ [cursorFile]: { mcpServers: { server, web } } });
    for (const argv of [[], ["--json"], ["--secrets", "keep", "--write"]]) {
      const { stdout, stderr } = await run(here, ...argv);
      expect(stdout).toContain('"MODE": "(hidden)"');
      expect(stdout + stderr).not.toMatch(/canary|plain/);
    }
    expect(await settings(here)).toEqual({
      mcpServers: {
        server: {
          ...server,
          env: { ...server.env, API_KEY: "canary-3$$", MODE: "plain", OTHER_TOKEN: "${OTHER_TOKEN}" },
        },
        web: { url: web.url, headers: web.headers, oauth: { clientSecret: "canary-6" } },
      },
    });
    expect(await storedSecrets(here)).toEqual({});
  });

  test("without --write the preview says what becomes of them, and stores nothing", async () => {
    await using here = await machine({ [cursorFile]: { mcpServers: { server } } });
    const { stdout } = await run(here);
    expect(stdout).toContain(
      "converted: env.API_KEY: looks like a secret: it will be stored, and the entry refers to it as ${secret:API_KEY}\n",
    );
    expect((await run(here, "--secrets", "keep")).stdout).toContain("next: fairlead secret set API_KEY\n");
    expect(await storedSecrets(here)).toEqual({});
  });

  test("of a server that --only leaves out are not called stored", async () => {
    await using here = await machine({ [cursorFile]: { mcpServers: { server, web } } });
    const { stdout } = await run(here, "--write", "--only", "web");
    expect(stdout).toMatch(/^server: skipped: not named in --only$/m);
    expect(stdout).not.toContain("SERVER_TOKEN");
    expect(Object.keys(await storedSecrets(here)).filter((name) => name.startsWith("SERVER"))).toEqual([]);
  });

  test("never replace a stored secret: another value gets another name, the same value is shared", async () => {
    const [one, two] = ["first", "second"].map((value) => ({ command: "run", env: { API_KEY: value } }));
    await using here = await machine({ [cursorFile]: { mcpServers: { one, two, three: one } } });
    const { secrets, undo } = await importJson(here, "--write");
    expect(secrets?.map(({ name }) => name)).toEqual(["API_KEY", "TWO_API_KEY", "API_KEY"]);
    expect(undo?.filter((line) => line.includes("secret"))).toHaveLength(2);
    expect(await storedSecrets(here)).toEqual({ API_KEY: "first", TWO_API_KEY: "second" });
  });

  test("in a line of shell stay where they are: the line is shown and approved as it is", async () => {
    const args = ["-c", "API_TOKEN=x; run"];
    await using here = await machine({ [cursorFile]: { mcpServers: { a: { command: "sh", args } } } });
    await run(here, "--write");
    expect(await settings(here)).toEqual({ mcpServers: { a: { command: "sh", args } } });
  });

  test.each([
    ["Enter stores them", "\r", { API_KEY: "canary" }, "${secret:API_KEY}"],
    ["yes keeps them", "y\r", {}, "canary"],
  ])("on a terminal Fairlead asks: %s", async (_, answer, stored, written) => {
    const one = { command: "run", env: { API_KEY: "canary" } };
    await using here = await machine({ [cursorFile]: { mcpServers: { one } } });
    await using terminal = openTerminalHere({ ...here, env: { ...here.env, ...env } }, "mcp", "import", "--write");
    await terminal.until(/one env\.API_KEY: \$\{secret:API_KEY\}[\s\S]*Write 1 secret unchanged/);
    terminal.type(answer);
    expect(await terminal.exitCode).toBe(0);
    expect(await storedSecrets(here)).toEqual(stored);
    expect(await settings(here)).toEqual({ mcpServers: { one: { ...one, env: { API_KEY: written } } } });
  });
});
