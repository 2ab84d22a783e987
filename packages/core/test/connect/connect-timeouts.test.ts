import { expect, test } from "vitest";
import { connectTimeoutFor, followAbort, isLaunched } from "../../src/connect/connect-timeout.ts";
import { createTrafficLog } from "../../src/connect/traffic-log.ts";
import type { Transport } from "../../src/settings/define/definition.ts";

const program = (command: string, ...args: string[]): Transport => ({ kind: "stdio", command, args, env: new Map() });

test.each([
  ...["npx", "bunx", "pnpx", "uvx", "pipx", "docker", "podman", "nerdctl"].map((word) => [word, true] as const),
  ...["npm exec", "npm x", "pnpm dlx", "yarn dlx", "bun x", "uv run", "uv tool", "deno run"].map(
    (line) => [line, true] as const,
  ),
  ...["npm", "npm run", "node npx", "deno", "", "npxx"].map((line) => [line, false] as const),
  ["/opt/bin/npx", true],
  ["C:\\tools\\NPX.cmd", true],
  ["uvx.exe", true],
  ["docker.bat", true],
  ["npx.ps1", true],
  ["npx.sh", false],
  ["cmd /c npx", true],
  ["cmd.exe /C npx", true],
  ["cmd /d npx", false],
  ["cmd /c", false],
  ["cmd /c node", false],
] as const)("the command %j may have to download the server: %s", (line, isSo) => {
  const [command = "", ...args] = line.split(" ");
  expect(isLaunched(program(command, ...args))).toBe(isSo);
});

test.each([
  ["npx", 120_000, true, { milliseconds: 120_000, setting: "fairlead.connectTimeout" }],
  ["npx", 119_999, true, { milliseconds: 119_999, setting: "timeout" }],
  ["npx", 30_000, false, { milliseconds: 30_000, setting: "fairlead.connectTimeout" }],
  ["npx", 29_999, false, { milliseconds: 29_999, setting: "timeout" }],
  ["node", 600_000, true, { milliseconds: 30_000, setting: "fairlead.connectTimeout" }],
] as const)(
  "the connect timeout of a server with the command %s and the timeout %i (first run: %s)",
  (command, timeout, isFirstRun, limit) => {
    expect(connectTimeoutFor({ timeout }, program(command), 30_000, isFirstRun)).toEqual(limit);
  },
);

test("a controller is aborted with the caller's signal, unless it has stopped to follow the signal", () => {
  const [caller, first, second] = [new AbortController(), new AbortController(), new AbortController()];
  followAbort(first, caller.signal);
  followAbort(second, caller.signal)();
  followAbort(second, undefined)();
  caller.abort("enough");
  expect([first.signal.reason, second.signal.aborted]).toEqual(["enough", false]);
});

test.each([true, false])("the log of a connection (debug: %s) has its messages only for debugging", (debug) => {
  const written: string[] = [];
  let starts = 0;
  const traffic = createTrafficLog({
    log: { path: "", write: (kind, text) => void written.push(`${kind} ${text}`), close: async () => {} },
    redact: (text) => text.replaceAll("secret", "(hidden)"),
    debug,
    isRelay: false,
    onFirstMessage: () => {
      starts += 1;
    },
    onStderrLine: undefined,
  });
  const { onMessage, onDiagnostic, onStderr } = traffic.listeners;
  traffic.note("a secret note");
  onMessage("sent", { jsonrpc: "2.0", method: "notifications/x" });
  onMessage("received", { method: "not JSON-RPC" });
  expect([starts, traffic.observed()]).toEqual([
    0,
    { lastRequest: undefined, hasSentMessage: false, diagnostics: [], stderr: [] },
  ]);
  onMessage("sent", { jsonrpc: "2.0", id: 1, method: "initialize" });
  onMessage("received", { jsonrpc: "2.0", id: 1, result: { text: "a secret" } });
  onMessage("received", { id: 2 });
  onMessage("sent", { jsonrpc: "2.0", id: 2, method: "tools/list" });
  for (const text of ["one", "two secret", "three", "four"]) onDiagnostic(text);
  onStderr("a line\n");
  expect([starts, traffic.observed()]).toEqual([
    1,
    {
      lastRequest: "tools/list",
      hasSentMessage: true,
      diagnostics: ["one", "two (hidden)", "three"],
      stderr: ["a line"],
    },
  ]);
  const wire = [
    'wire sent {"jsonrpc":"2.0","method":"notifications/x"}',
    'wire received {"method":"not JSON-RPC"}',
    'wire sent {"jsonrpc":"2.0","id":1,"method":"initialize"}',
    'wire received {"jsonrpc":"2.0","id":1,"result":{"text":"a (hidden)"}}',
    'wire received {"id":2}',
    'wire sent {"jsonrpc":"2.0","id":2,"method":"tools/list"}',
  ];
  expect(written).toEqual([
    "note a (hidden) note",
    ...(debug ? wire : []),
    "note one",
    "note two (hidden)",
    "note three",
    "note four",
    "stderr a line",
  ]);
});
