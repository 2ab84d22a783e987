import { expect, test } from "vitest";
import { packageCommand } from "../../src/sandbox/package-command.ts";

const npm = { from: "npm", options: [] } as const;
const python = { from: "PyPI", options: [] } as const;

test.each([
  ["npx -y pkg a --b", { ...npm, packages: ["pkg"], args: ["a", "--b"] }],
  ["npx -y @scope/pkg@1.2.3 -- a", { ...npm, packages: ["@scope/pkg@1.2.3"], args: ["--", "a"] }],
  ["/usr/bin/npx -p one -p two@^1 run x", { ...npm, packages: ["one", "two@^1"], program: "run", args: ["x"] }],
  ["npx --package=one run", { ...npm, packages: ["one"], program: "run", args: [] }],
  ["npm exec --yes pkg -- --flag", { ...npm, packages: ["pkg"], args: ["--flag"] }],
  ["npm x -- pkg", { ...npm, packages: ["pkg"], args: [] }],
  ["pnpm dlx --package one run", { ...npm, packages: ["one"], program: "run", args: [] }],
  ["bunx pkg@latest", { ...npm, packages: ["pkg@latest"], args: [] }],
  ["bun x pkg", { ...npm, packages: ["pkg"], args: [] }],
  ["npx --registry http://localhost:1 pkg", { ...npm, packages: ["pkg"], args: [], registry: "http://localhost:1" }],
  ["uvx tool x", { ...python, packages: ["tool"], program: "tool", args: ["x"] }],
  ["uvx tool@1.2", { ...python, packages: ["tool==1.2"], program: "tool", args: [] }],
  ["uvx tool@latest", { ...python, packages: ["tool"], program: "tool", args: [] }],
  [
    "uvx --from tool[a]>=1 --with other run x",
    { ...python, packages: ["tool[a]>=1", "other"], program: "run", args: ["x"] },
  ],
  [
    "uv tool run --python 3.12 tool",
    { ...python, packages: ["tool"], program: "tool", args: [], options: ["--python", "3.12"] },
  ],
])("%s", (line, wanted) => {
  const [command = "", ...args] = line.split(" ");
  expect(packageCommand(command, args)).toEqual(wanted);
});

test.each([
  ["npx -c 'run x' -p pkg", "--call"],
  ["npx github:user/pkg", "github:user/pkg is not a package of a registry"],
  ["npx -y https://example.com/pkg.tgz", "is not a package of a registry"],
  ["uvx --from git+https://example.com/x tool", "is not a package of a registry"],
  ["docker run -i image", "a container"],
  ["pipx run tool", "uvx"],
  ["env A=1 npx pkg", "through env"],
])("%s is not fetched for a sandbox", (line, why) => {
  const [command = "", ...args] = line.split(" ");
  expect(packageCommand(command, args)).toEqual({ why: expect.stringContaining(why) });
});

test("a program of this machine fetches nothing", () => {
  expect(packageCommand("node", ["server.mjs"])).toBeUndefined();
  expect(packageCommand("npm", ["run", "server"])).toBeUndefined();
});
