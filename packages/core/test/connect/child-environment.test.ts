import { describe, expect, test } from "vitest";
import { childEnvironment } from "../../src/connect/launch.ts";
import { connection, script } from "./connection.ts";

const none: ReadonlyMap<string, string> = new Map();

test("what a server needs to find its way is passed on, everything else is not", () => {
  const ours = {
    PATH: "/usr/bin",
    HOME: "/home/me",
    LANG: "C",
    LC_CTYPE: "C.UTF-8",
    https_proxy: "http://proxy:3128",
    NODE_EXTRA_CA_CERTS: "/etc/ca.pem",
    GITHUB_TOKEN: "secret",
    NODE_OPTIONS: "--require ./evil.js",
    LD_PRELOAD: "evil.so",
    PYTHONPATH: ".",
    BASH_ENV: "./evil.sh",
    FAIRLEAD_HOME: "/x",
    npm_config_registry: "http://evil",
    APPDATA: "only on Windows",
    UNSET: undefined,
  };
  const passed = ["HOME", "LANG", "LC_CTYPE", "NODE_EXTRA_CA_CERTS", "PATH", "https_proxy"];
  expect(childEnvironment({ env: ours, platform: "linux" }, none)).toEqual({
    env: Object.fromEntries(Object.entries(ours).filter(([name]) => passed.includes(name))),
    passed,
    set: [],
    withheld: [
      "APPDATA",
      "BASH_ENV",
      "FAIRLEAD_HOME",
      "GITHUB_TOKEN",
      "LD_PRELOAD",
      "NODE_OPTIONS",
      "PYTHONPATH",
      "npm_config_registry",
    ],
  });
});

test("what the entry sets is there, whatever it is called, and wins", () => {
  const entry = new Map([
    ["NODE_OPTIONS", "--max-old-space-size=4096"],
    ["PATH", "/opt/bin"],
    ["__proto__", "a name like any other"],
  ]);
  const { env, ...names } = childEnvironment(
    { env: { PATH: "/usr/bin", NODE_OPTIONS: "x" }, platform: "linux" },
    entry,
  );
  expect(Object.entries(env)).toEqual([...entry]);
  expect(names).toEqual({ passed: [], set: ["NODE_OPTIONS", "PATH", "__proto__"], withheld: [] });
});

test("a value that an old shell would run is not passed on", () => {
  const { env, withheld } = childEnvironment({ env: { LANG: "() { :; }; evil" }, platform: "linux" }, none);
  expect({ env, withheld }).toEqual({ env: {}, withheld: ["LANG"] });
});

test("on Windows names are the same in any case, and its own set is passed on", () => {
  const ours = { Path: "C:\\bin", SystemRoot: "C:\\Windows", AppData: "x", "ProgramFiles(x86)": "y", Token: "z" };
  expect(childEnvironment({ env: ours, platform: "win32" }, new Map([["PATH", "D:\\bin"]]))).toEqual({
    env: { SystemRoot: "C:\\Windows", AppData: "x", "ProgramFiles(x86)": "y", PATH: "D:\\bin" },
    passed: ["AppData", "ProgramFiles(x86)", "SystemRoot"],
    set: ["PATH"],
    withheld: ["Token"],
  });
});

describe("a real program", () => {
  const dump = "process.stderr.write(Object.entries(process.env).map((pair) => pair.join('=') + '\\n').join(''))";

  test("sees none of five hundred variables, but the one that its entry names", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`CANARY_${at}`, `canary-${at}`]));
    const lines: string[] = [];
    await using server = await connection(script(dump, { env: { MINE: "$CANARY_7" } }), { env: many });
    await server.failure({ onStderrLine: (line) => lines.push(line) });
    const names = new Set(lines.map((line) => line.split("=")[0] ?? ""));
    expect([...names].sort()).toEqual(["FAIRLEAD_CHILD", "HOME", "MINE", "PATH"]);
    expect(lines.filter((line) => line.includes("canary"))).toEqual([]);
    expect(lines).toContain("MINE=(hidden)");
  });
});
