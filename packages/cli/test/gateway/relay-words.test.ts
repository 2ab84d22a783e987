import { resolve } from "node:path";
import { expect, test } from "vitest";
import { aloneMessage, listIn, readRelayWords } from "../../src/gateway/run-relay.ts";

const cwd = resolve("/work");
const env = { PATH: "/bin" };
const usual = { name: "stdio", cwd, env, workspace: true, trustWorkspace: false };
const read = (line: string) => readRelayWords(line === "" ? [] : line.split(" "), { cwd, env });

test.each<[string, object]>([
  ["", {}],
  ["--quiet -q", {}],
  ["--client codex", { name: "codex" }],
  ["--client=codex", { name: "codex" }],
  ["--client=a=b", { name: "a=b" }],
  ["--servers a,b --tools=a.*,b.c", { servers: ["a", "b"], tools: ["a.*", "b.c"] }],
  ["--settings x.json -C sub", { settings: resolve(cwd, "x.json"), root: resolve(cwd, "sub") }],
  ["-C a=b", { root: resolve(cwd, "a=b") }],
  ["--no-workspace --client zed", { workspace: false, name: "zed" }],
  ["--trust-workspace", { trustWorkspace: true }],
])("a relay handles the words: serve %s", (line, options) => {
  expect(read(line)).toEqual({ ...usual, ...options });
});

test.each([
  "--help",
  "--http",
  "--alone",
  "--client",
  "--client=",
  "--client --quiet",
  "-C=a",
  "-C",
  "word",
  "--client -",
])("the full command handles the words: serve %s", (line) => {
  expect(read(line)).toBeUndefined();
});

test("the full command runs below another gateway, which it reports", () => {
  expect(readRelayWords([], { cwd, env: { FAIRLEAD_PARENT: "1" } })).toBeUndefined();
  expect(readRelayWords([], { cwd, env: { FAIRLEAD_PARENT: "" } })).toMatchObject({ name: "stdio" });
});

test("empty names in a list do not count", () => {
  expect(listIn(" a, b ,,c,")).toEqual(["a", "b", "c"]);
  expect(listIn(" ")).toEqual([]);
});

test("a problem is reported without characters that could change the terminal", () => {
  expect(aloneMessage("no\u001b[31m\u2028disk\u202e")).toBe(
    "fairlead: the background host cannot be used: no [31m disk ; this process starts its own servers\n",
  );
});
