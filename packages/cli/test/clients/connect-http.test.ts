import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { connectMachine, greetServer, textOf } from "../support/connected.ts";
import { type Machine, userFile } from "../support/machine.ts";
import { program } from "../support/process.ts";

/** The status of a request to the gateway. */
async function statusOf(url: string, authorization: string): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: {
      Authorization: authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }),
  });
  return status;
}

/** `fairlead serve --http` and the background host that it starts, until the end of its scope. */
async function gatewayOf(here: Machine): Promise<AsyncDisposable & { readonly port: string }> {
  const { env, project } = here;
  const child = spawn(process.execPath, [program, "serve", "--http"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const gone = once(child, "exit");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    port: new URL(url).port,
    async [Symbol.asyncDispose]() {
      child.kill();
      await gone;
      await here.run("daemon", "stop");
    },
  };
}

test("connect --http writes a URL and a token of its own, which works until disconnect", async () => {
  await using here = await connectMachine({
    "greeter.cjs": greetServer,
    "home/.cursor/mcp.json": "{}",
  });
  const greeter = { command: process.execPath, args: [join(here.path, "greeter.cjs")] };
  await here.write(userFile, { mcpServers: { greeter } });
  await here.fairlead("tools", "greeter");
  await using gateway = await gatewayOf(here);
  await chmod(join(here.home, ".cursor/mcp.json"), 0o644);
  const { code, stderr } = await here.fairlead("connect", "cursor", "--http", "--port", gateway.port, "--yes");
  expect(code).toBe(0);
  expect(stderr).toContain('"Authorization": "(hidden)"');
  expect(stderr).toContain("can read");
  const text = (await textOf(here, "home/.cursor/mcp.json")) ?? "";
  const { url, headers } = (
    JSON.parse(text) as { mcpServers: { fairlead: { url: string; headers: Record<string, string> } } }
  ).mcpServers.fairlead;
  expect(url).toBe(`http://127.0.0.1:${gateway.port}/mcp`);
  const token = /^Bearer (\S{40,})$/.exec(headers["Authorization"] ?? "")?.[1] ?? "none";
  // The same URL again keeps the token.
  expect(await here.fairlead("connect", "cursor", "--http", "--port", gateway.port)).toMatchObject({ code: 0 });
  expect(await textOf(here, "home/.cursor/mcp.json")).toBe(text);
  expect((await here.fairlead("connect", "--list", "cursor")).stdout).toContain("connected, 1 tool ");
  // Neither the tokens nor the receipt hold the token itself.
  const state = join(here.home, ".fairlead");
  for (const name of await readdir(state, { recursive: true }))
    expect((await readFile(join(state, name), "utf8").catch(() => "")).includes(token), name).toBe(false);
  expect((await here.fairlead("disconnect", "cursor", "--yes")).code).toBe(0);
  expect(await textOf(here, "home/.cursor/mcp.json")).toBe("{}");
  expect(await statusOf(url, headers["Authorization"] ?? "")).toBe(401);
});

test("--print makes a token for the printed lines; Claude Desktop has no form for a URL", async () => {
  await using here = await connectMachine();
  const { stdout } = await here.fairlead("connect", "windsurf", "codex", "--http", "--print");
  expect(stdout).toMatch(
    /"serverUrl": "http:\/\/127.0.0.1:4100\/mcp",\n\s+"headers": \{\n\s+"Authorization": "Bearer \S{40,}"/,
  );
  expect(stdout).toMatch(/url = "http:\/\/127.0.0.1:4100\/mcp"\nhttp_headers = \{ Authorization = "Bearer \S{40,}" \}/);
  expect(await here.fairlead("connect", "claude-desktop", "--http", "--yes")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Claude Desktop does not support servers with a URL in its settings file"),
  });
  expect(await here.fairlead("connect", "cursor", "--port", "1")).toMatchObject({ code: 2 });
});

test("a token of --print is listed, and disconnect revokes it although Fairlead wrote no file", async () => {
  await using here = await connectMachine();
  await using gateway = await gatewayOf(here);
  const printed = await here.fairlead("connect", "vscode", "--http", "--port", gateway.port, "--print");
  expect(printed.stderr).toBe(
    `undo: fairlead disconnect vscode\na program listens on port ${gateway.port}; the entry works if it is fairlead serve --http: fairlead connect --list\n`,
  );
  const [authorization = ""] = /Bearer \S{40,}(?=")/.exec(printed.stdout) ?? [];
  const url = `http://127.0.0.1:${gateway.port}/mcp`;
  expect(await statusOf(url, authorization)).toBe(200);
  const listed = await here.fairlead("connect", "--list", "vscode", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    clients: [{ id: "vscode", name: "VS Code", state: "absent", files: [expect.stringContaining("mcp.json")] }],
    tokens: [{ client: "vscode", since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) }],
  });
  expect((await here.fairlead("connect", "--list")).stdout).toMatch(
    /^vscode has 1 token for fairlead serve --http, made .* ago; to revoke: fairlead disconnect vscode$/m,
  );
  expect((await here.fairlead("connect", "--list", "zed")).stdout).not.toContain("token");
  expect(await here.fairlead("disconnect", "vscode")).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^revoked 1 token of VS Code\nFairlead has written nothing to /),
  });
  expect(await statusOf(url, authorization)).toBe(401);
  expect(JSON.parse((await here.fairlead("connect", "--list", "--json")).stdout)).toMatchObject({ tokens: [] });
  expect((await here.fairlead("disconnect", "vscode")).code).toBe(2);
});

test("a refused request says what to do, without a word about tokens that exist", async () => {
  await using here = await connectMachine();
  await using gateway = await gatewayOf(here);
  const url = `http://127.0.0.1:${gateway.port}/mcp`;
  const refused = async (headers: Record<string, string>): Promise<readonly [number, string]> => {
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    const { error } = (await response.json()) as { error: { message: string } };
    return [response.status, error.message];
  };
  const next = "to write a new token into a client's settings: fairlead connect CLIENT --http";
  expect(await refused({})).toEqual([401, expect.stringContaining(next)]);
  expect(await refused({})).toEqual([401, expect.stringContaining("no header Authorization")]);
  const [status, message] = await refused({ authorization: "Bearer secret-word" });
  expect([status, message]).toEqual([401, expect.stringContaining(next)]);
  expect(message).not.toContain("secret-word");
  expect(await refused({ origin: "https://evil.example" })).toEqual([
    403,
    expect.stringContaining("send the request from a program on this machine, not from a web page"),
  ]);
});

test("connect --http says that fairlead serve --http does not run, and prints a unit that starts it", async () => {
  await using here = await connectMachine({ "home/.cursor/mcp.json": "{}" });
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, "close");
  const connect = ["connect", "cursor", "--http", "--port", String(port), "--yes"];
  const { code, stdout } = await here.fairlead(...connect, "--json");
  expect(code).toBe(0);
  const unit = here.env["HOME"] === undefined ? "" : join(here.home, ".config/systemd/user/fairlead.service");
  expect(JSON.parse(stdout)).toMatchObject({ service: { port, listening: false, unit: { file: unit } } });
  const { stderr } = await here.fairlead(...connect);
  expect(stderr).toContain(`does not run on port ${port}; to start it now: fairlead serve --http --port ${port}\n`);
  expect(stderr).toContain(
    `  ExecStart="${process.execPath}" "${here.entryFile}" "serve" "--http" "--port" "${port}"\n`,
  );
  expect(await readdir(here.home)).not.toContain(".config");
});
