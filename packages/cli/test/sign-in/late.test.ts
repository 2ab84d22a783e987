import { authorizationServer, behaves, browser, googleServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { runProcess } from "../support/process.ts";
import { addressOn, signInScene } from "../support/sign-in-scene.ts";
import { openTerminalHere } from "../support/terminal-here.ts";

const file = { FAIRLEAD_SECRET_STORE: "file" };

test("a server that wants a sign-in only for its tools can be signed in to beforehand", async () => {
  await using authorization = await authorizationServer({ scopes: ["read"] });
  await using web = await webServer((request, response) => {
    const resource = `http://${request.headers.host}/mcp`;
    if (request.path === "/.well-known/oauth-protected-resource/mcp")
      return void response.end(JSON.stringify({ resource, authorization_servers: [authorization.issuer] }));
    const isCall = request.body.includes('"tools/call"');
    const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
    if (isCall && authorization.findLiveToken(token) === undefined) return void response.writeHead(401).end();
    behaves(request, response);
  });
  await using here = await machine({ [userFile]: { mcpServers: { late: { httpUrl: `${web.origin}/mcp` } } } });
  const at = { ...here, env: { ...here.env, ...file } };
  expect(await here.runWith({ env: file }, "call", "late.echo", "text=hi")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("fairlead mcp auth late") as string,
  });
  await using terminal = openTerminalHere(at, "mcp", "auth", "late", "--no-browser");
  await browser(addressOn(await terminal.until(/address from the browser:$/m)));
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain(`Signed in to "late" at ${authorization.issuer}`);
  expect(await here.runWith({ env: file }, "call", "late.echo", "text=hi")).toMatchObject({ code: 0 });
});

test("a server that says nothing about signing in did not ask for it", async () => {
  await using web = await webServer((request, response) => {
    if (request.path === "/mcp") return behaves(request, response);
    response.writeHead(404).end();
  });
  await using here = await machine({ [userFile]: { mcpServers: { open: { httpUrl: `${web.origin}/mcp` } } } });
  await using terminal = openTerminalHere(
    { ...here, env: { ...here.env, ...file } },
    "mcp",
    "auth",
    "open",
    "--no-browser",
  );
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain('"open" did not ask for a sign-in.');
});

test("an empty line is asked about again, and after the end of input the browser can still come back", async () => {
  await using scene = await signInScene();
  await using terminal = openTerminalHere(scene.here, "mcp", "auth", "docs", "--no-browser");
  const asked = await terminal.until(/address from the browser:$/m);
  terminal.type("\r");
  await terminal.until(/The pasted text cannot be used: the input is empty[\s\S]*address from the browser:$/m);
  terminal.type("\u0004");
  await terminal.until(/You can no longer paste the address: the input ended/);
  await browser(addressOn(asked));
  expect(await terminal.exitCode).toBe(0);
});

test("the command itself gets a token of this machine's Google account", async () => {
  await using google = await googleServer();
  await using web = await webServer((request, response) => {
    const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
    if (google.tokens.has(token)) return behaves(request, response);
    response.writeHead(401).end();
  });
  const oauth = { scopes: ["https://www.googleapis.com/auth/cloud-platform"] };
  const cloud = { httpUrl: `${web.origin}/mcp`, authProviderType: "google_credentials", oauth };
  await using here = await machine({
    [userFile]: { mcpServers: { cloud }, fairlead: { googleHosts: [new URL(web.origin).hostname] } },
  });
  const env = { ...here.env, ...file, GCE_METADATA_HOST: google.metadataHost };
  const { code, stdout, stderr } = await runProcess({ ...here, env }, "tools", "cloud", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ tools: [{ serverToolName: "echo" }] });
});

test("who cannot be signed in to is named with the reason", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: {
        elsewhere: {
          httpUrl: "https://tools.example/mcp",
          authProviderType: "google_credentials",
          oauth: { scopes: ["s"] },
        },
        mistaken: { httpUrl: "https://b.example/mcp", authProviderType: "service_account_impersonation" },
        program: { command: "node" },
      },
    },
  });
  const { stdout } = await here.runWith({ env: { ...here.env, ...file } }, "mcp", "auth");
  expect(stdout).toMatch(
    /^elsewhere {2}cannot sign in: "elsewhere" is at tools\.example, but Fairlead sends Google tokens to/m,
  );
  expect(stdout).toMatch(/^mistaken {3}cannot start: .*targetAudience/m);
  expect(stdout).not.toContain("program");
});
