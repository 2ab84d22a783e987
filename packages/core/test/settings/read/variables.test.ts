import { expect, test } from "vitest";
import { mergeText } from "../../../src/settings/read/load.ts";
import { type LookupSources, lookupFor } from "../../../src/settings/read/variables.ts";
import { serverOf } from "../../support/load-settings.ts";

const sources = (platform: NodeJS.Platform, env: Record<string, string>): LookupSources => ({
  environment: { env, home: "/home", cwd: "/cwd", platform },
  root: "/root",
  envFiles: {
    user: new Map([
      ["BOTH", "user"],
      ["USER", "user"],
      ["PATH", "user"],
      ["PWD", "user"],
    ]),
    workspace: new Map([
      ["BOTH", "workspace"],
      ["WORKSPACE", "workspace"],
    ]),
    problems: [],
  },
});

test.each([
  ["user", "PATH", { value: "env", from: "environment" }],
  ["user", "EMPTY", { value: "", from: "environment" }],
  ["user", "PWD", { value: "/root", from: "workspace-root" }],
  ["user", "USER", { value: "user", from: "user-env-file", isConfined: false }],
  ["user", "BOTH", { value: "user", from: "user-env-file", isConfined: false }],
  ["user", "WORKSPACE", { value: "workspace", from: "workspace-env-file", isConfined: true }],
  ["system", "WORKSPACE", { value: "workspace", from: "workspace-env-file", isConfined: true }],
  ["workspace", "BOTH", { value: "workspace", from: "workspace-env-file", isConfined: false }],
  ["workspace", "USER", { value: "user", from: "user-env-file", isConfined: false }],
  ["workspace", "NONE", undefined],
  ["workspace", "toString", undefined],
] as const)("an entry of the %s's settings finds %s as %j", (scope, name, found) => {
  expect(lookupFor(scope, sources("linux", { PATH: "env", EMPTY: "" }))(name)).toEqual(found);
});

test("only on Windows, the case of a variable's name does not count, and the exact name comes first", () => {
  const env = { Path: "mixed", PATH: "upper", Temp: "first", TEMP_: "other" };
  const on = (platform: NodeJS.Platform) =>
    ["Path", "PATH", "path", "TEMP", "temp_", "TEM"].map(
      (name) => lookupFor("user", sources(platform, env))(name)?.value,
    );
  expect(on("win32")).toEqual(["mixed", "upper", "mixed", "first", "other", undefined]);
  expect(on("linux")).toEqual(["mixed", "upper", undefined, undefined, undefined, undefined]);
});

test("settings in a text are merged without any file, and use the variables of the process", async () => {
  const environment = { env: { A: "1" }, home: "/home", cwd: "/cwd", platform: "linux" } as const;
  const settings = await mergeText(
    '{ "mcpServers": { "s": { "command": "./x", "args": ["$A", "$PWD", "$B"] } } }',
    environment,
  );
  const { definition, problems } = serverOf(settings, "s");
  expect(definition?.variables).toEqual([
    { name: "A", from: "environment" },
    { name: "PWD", from: "workspace-root" },
    { name: "B", from: "unset" },
  ]);
  expect(problems.map(({ code }) => code)).toEqual(["variable_unset"]);
});
