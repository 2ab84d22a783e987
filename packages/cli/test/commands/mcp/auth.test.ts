import { authorizationServer, behaves, browser, type WebRequest, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";
import { addressOn, signInScene } from "../../support/sign-in-scene.ts";
import { openTerminal } from "../../support/terminal.ts";

const file = { FAIRLEAD_SECRET_STORE: "file" };

test("without a terminal the user is not asked: exit 5, and the command to type", async () => {
  await using scene = await signInScene();
  const { code, stdout, stderr } = await scene.here.run("mcp", "auth", "docs");
  expect({ code, stdout, stderr }).toEqual({
    code: 5,
    stdout: "",
    stderr:
      'fairlead: sign-in to "docs" required, and there is no terminal to ask on\n  next: In a terminal: fairlead mcp auth docs\n',
  });
  expect(scene.guarded.seen).toEqual([]);
});

test("who needs a sign-in is known once a server has asked for it", async () => {
  await using scene = await signInScene();
  const { here } = scene;
  expect(await here.run("mcp", "auth")).toMatchObject({
    code: 0,
    stdout: "docs  not signed in; the server has not asked for a sign-in\n",
    stderr: "next: fairlead mcp list   (connects, and shows which servers need a sign-in)\n",
  });
  const listed = await here.run("mcp", "list", "--strict");
  expect(listed.code).toBe(5);
  expect(listed.stdout).toContain("next: fairlead mcp auth docs");
  expect(await here.run("mcp", "auth")).toMatchObject({
    stdout: "docs  needs sign-in\n",
    stderr: "next: fairlead mcp auth docs\n",
  });
  const { stdout } = await here.run("mcp", "auth", "--json");
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    servers: [{ name: "docs", signIn: { state: "needed" } }],
  });
  expect((await here.run("mcp", "get", "docs")).stdout).toMatch(/^ +signed in +needs sign-in$/m);
});

test("those that sign in by themselves are named, programs are left out", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: {
        own: { httpUrl: "https://a.example/mcp", headers: { authorization: "Bearer x" } },
        program: { command: "node" },
        cloud: {
          httpUrl: "https://a.googleapis.com/mcp",
          authProviderType: "google_credentials",
          oauth: { scopes: ["s"] },
        },
        robot: {
          httpUrl: "https://b.example/mcp",
          authProviderType: "service_account_impersonation",
          targetAudience: "a",
          targetServiceAccount: "r@p.iam.gserviceaccount.com",
        },
      },
    },
  });
  expect((await here.runWith({ env: file }, "mcp", "auth")).stdout).toBe(
    `own    no sign-in: settings.json sets an Authorization header
cloud  automatic, with the Google credentials of this machine
robot  automatic, as a Google service account
`,
  );
});

test.each([
  [
    "a program with variables",
    { command: "node", env: { A_TOKEN: "$X", B: "1" } },
    'fairlead: "s" is a local program and has no sign-in: it gets credentials from "env" in its entry ("env" has A_TOKEN, B)',
  ],
  [
    "a program without",
    { command: "node" },
    'fairlead: "s" is a local program and has no sign-in: it gets credentials from "env" in its entry ("env" is empty)',
  ],
  [
    "a header",
    { httpUrl: "https://a.example/mcp", headers: { Authorization: "Bearer x" } },
    'fairlead: "s" has an Authorization header in its entry, so it needs no sign-in',
  ],
])("there is nothing to sign in to for %s", async (_what, entry, words) => {
  await using here = await machine({ [userFile]: { mcpServers: { s: entry } } });
  const { code, stderr } = await here.runWith({ env: { ...file, X: "1" } }, "mcp", "auth", "s");
  expect({ code, words: stderr.split("\n")[0] }).toEqual({ code: 2, words });
});

test.each([
  [["mcp", "auth", "nobody"], 'no server "nobody" is configured', 2],
  [["mcp", "auth", "off"], '"off" is disabled', 6],
  [["mcp", "auth", "--device"], "the server's name is missing", 2],
])("%j is refused", async (argv, words, expected) => {
  await using here = await machine({
    [userFile]: {
      mcpServers: { off: { httpUrl: "https://a.example/mcp" } },
      fairlead: { servers: { off: { enabled: false } } },
    },
  });
  const { code, stderr } = await here.runWith({ env: file }, ...argv);
  expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(words) as string });
});

test("a server that did not ask is asked again once the person has signed in: what it offers then is shown", async () => {
  await using authorization = await authorizationServer({ scopes: ["read"] });
  const isSignedIn = ({ headers }: WebRequest): boolean =>
    authorization.findLiveToken(headers.authorization?.slice("Bearer ".length) ?? "") !== undefined;
  await using web = await webServer((request, response) => {
    const resource = `http://${request.headers.host}/mcp`;
    if (request.path === "/.well-known/oauth-protected-resource/mcp")
      return void response.end(JSON.stringify({ resource, authorization_servers: [authorization.issuer] }));
    if (!request.body.includes('"tools/list"') || !isSignedIn(request)) return behaves(request, response);
    const tools = ["echo", "private"].map((name) => ({ name, inputSchema: { type: "object" } }));
    const { id } = JSON.parse(request.body) as { id: number };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { tools } }));
  });
  await using here = await machine({ [userFile]: { mcpServers: { late: { httpUrl: `${web.origin}/mcp` } } } });
  await using terminal = openTerminal(
    { ...here, env: { ...here.env, ...file } },
    "mcp",
    "auth",
    "late",
    "--no-browser",
  );
  await browser(addressOn(await terminal.until(/address from the browser:$/m)));
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/^late {2}connected: 2 tools$/m);
});
