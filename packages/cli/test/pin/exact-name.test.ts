import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Download } from "@fairlead/core/connect";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type PinRequest, passedOn, resolveExactName } from "../../src/pin/pin-server.ts";

interface Reply {
  readonly isDone?: boolean;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** A request whose programs answer with `reply`. `asked`: their command lines, and what they read. */
function requestFor(
  [from, launcher, name]: readonly [Download["from"], string, string],
  { isDone = true, stdout = "", stderr = "" }: Reply = {},
  changes: Partial<PinRequest> = {},
) {
  const asked: string[] = [];
  const request: PinRequest = {
    server: "a",
    download: { name, from, launcher, pinned: false, at: 0 },
    options: [],
    isOption: false,
    env: new Map(),
    home: "/none",
    run: async (program, args, stdin) => {
      asked.push([program, ...args, ...(stdin === undefined ? [] : [`< ${stdin}`])].join(" "));
      return { isDone, stdout, stderr };
    },
    ...changes,
  };
  return { request, asked };
}

const digest = `sha256:${"a1".repeat(32)}`;
const other = `sha256:${"b2".repeat(32)}`;
const view = "version --json --fetch-retries=0";
const compile = "pip compile --no-deps --no-header --no-annotate";
const inspect = "image inspect --format {{json .RepoDigests}}";
const images = "an image registry";

test.each<[readonly [Download["from"], string, string], string, string, string, Partial<PinRequest>?]>([
  [["npm", "npx", "pkg"], '"1.2.3"', "pkg@1.2.3", `npm view pkg ${view}`],
  [["npm", "/opt/bin/npx", "@s/pkg@^1"], '["1.0.0","1.4.0"]', "@s/pkg@1.4.0", `/opt/bin/npm view @s/pkg@^1 ${view}`],
  [["npm", "/opt/bin/npm.cmd", "pkg"], '"1.2.3"', "pkg@1.2.3", `/opt/bin/npm view pkg ${view}`],
  [["npm", "/opt/bin/bunx", "pkg"], '"1.2.3-rc.1"', "pkg@1.2.3-rc.1", `npm view pkg ${view}`],
  [
    ["npm", "npx", "pkg"],
    '"1.2.3"',
    "pkg@1.2.3",
    `npm view pkg ${view} --registry=https://r.example`,
    { options: ["-y", "--registry=https://r.example"] },
  ],
  [["PyPI", "uvx", "My.Pkg"], "other==9\nmy_pkg[x]==1.5+a # b", "My.Pkg@1.5+a", `uv ${compile} - < My.Pkg\n`],
  [["PyPI", "uv", "pkg@latest"], "pkg==2", "pkg@2", `uv ${compile} - < pkg\n`],
  [["PyPI", "/opt/bin/uvx", "pkg"], "pkg==2", "pkg@2", `/opt/bin/uv ${compile} - < pkg\n`],
  [
    ["PyPI", "uvx", "pkg[x]>=1,<3"],
    "pkg==2",
    "pkg[x]==2",
    `uv ${compile} --index https://r.example --python=3.12 - < pkg[x]>=1,<3\n`,
    { isOption: true, options: ["--quiet", "--index", "https://r.example", "--python=3.12", "--from"] },
  ],
  [[images, "docker", "x/y:1.2"], `["z@${other}","x/y@${digest}"]`, `x/y:1.2@${digest}`, `docker ${inspect} x/y:1.2`],
  [[images, "podman", "x/y"], `["z@${other}","q@${digest}"]`, `x/y@${other}`, `podman ${inspect} x/y`],
])("%j with the answer %j is %s", async (download, stdout, name, line, changes = {}) => {
  const { request, asked } = requestFor(download, { stdout }, changes);
  expect(await resolveExactName(request)).toEqual({ name });
  expect(asked).toEqual([line]);
});

const failure = (code: string, summary?: string): string => JSON.stringify({ error: { code, summary } });
const noPackage = "use a package from the npm registry";
const yourself = "write the exact version yourself: PACKAGE==VERSION";
const network = "try again with a network connection, or write PACKAGE==VERSION yourself";

test.each<[readonly [Download["from"], string, string], Reply, string, string, string | undefined]>([
  [["npm", "npx", "a b"], {}, "usage", '"a" cannot be pinned: a b is not a package name', noPackage],
  [["npm", "npx", "./folder"], {}, "usage", '"a" cannot be pinned: ./folder is not a package name', noPackage],
  [
    ["npm", "npx", "pkg@next"],
    { stdout: failure("E404", "long") },
    "unreachable",
    "version of pkg@next not found: npm: no such package",
    "npm view pkg@next version",
  ],
  [
    ["npm", "npx", "pkg"],
    { stdout: failure("EX", "\n no luck\nmore"), stderr: "other" },
    "unreachable",
    "version of pkg not found: npm:  no luck",
    "npm view pkg version",
  ],
  [
    ["npm", "npx", "pkg"],
    { stdout: "7", stderr: " \nno disk\nmore" },
    "unreachable",
    "version of pkg not found: npm: no disk",
    "npm view pkg version",
  ],
  [
    ["npm", "npx", "pkg"],
    { stdout: '"latest"' },
    "unreachable",
    "version of pkg not found: npm: it printed no error message",
    "npm view pkg version",
  ],
  [["PyPI", "pipx", "pkg"], {}, "usage", '"a" cannot be pinned: Fairlead does not support pkg with pipx', yourself],
  [
    ["PyPI", "uvx", "git+https://x.example"],
    {},
    "usage",
    '"a" cannot be pinned: Fairlead does not support git+https://x.example with uvx',
    yourself,
  ],
  [
    ["PyPI", "uvx", "pkg"],
    { isDone: false, stdout: "pkg==1", stderr: "first\nlast\n" },
    "unreachable",
    "version of pkg not found: uv: last",
    network,
  ],
  [
    ["PyPI", "uvx", "pkg"],
    { stdout: "other==1" },
    "unreachable",
    "version of pkg not found: uv: it printed no error message",
    network,
  ],
  [[images, "docker", "-x"], {}, "usage", '"a" cannot be pinned: -x is not an image name', undefined],
  [
    [images, "my docker", "x/y"],
    { isDone: false, stderr: "Error: No such image: x/y" },
    "usage",
    "image x/y not found on this machine",
    "'my docker' pull x/y",
  ],
  [
    [images, "podman", "x/y"],
    { isDone: false, stderr: "x/y: image not known" },
    "usage",
    "image x/y not found on this machine",
    "podman pull x/y",
  ],
  [
    [images, "docker", "x/y"],
    { isDone: false, stderr: " no daemon\n" },
    "unreachable",
    "docker cannot read the digest of x/y: no daemon",
    undefined,
  ],
  [
    [images, "docker", "x/y"],
    { isDone: false },
    "unreachable",
    "docker cannot read the digest of x/y: it printed no error message",
    undefined,
  ],
  [
    [images, "docker", "x/y"],
    { stdout: "[]" },
    "usage",
    "image x/y has no digest: it was built on this machine",
    "push the image to a registry, and pull it",
  ],
])("%j with the answer %j is refused as %s", async (download, reply, code, message, next) => {
  const { request } = requestFor(download, reply);
  await expect(resolveExactName(request)).rejects.toMatchObject({ code, message, next, serverName: "a" });
});

/** The folder of npm's cache with versions of `pkg`, each with the time of its download. */
function fillCache(cache: string, versions: readonly (readonly [string, number])[]): void {
  for (const [at, [version, time]] of versions.entries()) {
    const folder = join(cache, "_npx", String(at), "node_modules", "pkg");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ version }));
    utimesSync(join(folder, "package.json"), time, time);
  }
}

test.each(["pkg", "pkg@latest"])("offline, %s is the version that npx downloaded last", async (name) => {
  await using folder = await temporaryFolder();
  const [small, large, home] = ["small", "large", "home"].map((each) => join(folder.path, each));
  fillCache(small ?? "", [["1.0.0", 1]]);
  fillCache(large ?? "", [["2.0.0", 1]]);
  fillCache(join(home ?? "", ".npm"), [
    ["3.0.0", 3],
    ["3.1.0", 5],
    ["workspace", 9],
    ["3.2.0", 4],
  ]);
  const note = "the registry cannot be reached; this version is from npx's cache";
  const both = { npm_config_cache: small ?? "", NPM_CONFIG_CACHE: large ?? "" };
  const { npm_config_cache: _, ...upper } = both;
  for (const [variables, version] of [
    [{}, "3.1.0"],
    [upper, "2.0.0"],
    [both, "1.0.0"],
  ] as const) {
    const changes = { home: home ?? "", env: new Map(Object.entries(variables)) };
    const { request } = requestFor(["npm", "npx", name], { stdout: failure("EAI_AGAIN") }, changes);
    expect(await resolveExactName(request)).toEqual({ name: `pkg@${version}`, note });
  }
});

test.each([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "ERR_SOCKET_TIMEOUT",
  "ENOTCACHED",
])("offline (%s), a version range is not looked for in npx's cache", async (code) => {
  await using folder = await temporaryFolder();
  fillCache(join(folder.path, ".npm"), [["1.0.0", 1]]);
  const { request } = requestFor(["npm", "npx", "pkg@^1"], { stdout: failure(code) }, { home: folder.path });
  await expect(resolveExactName(request)).rejects.toMatchObject({
    code: "unreachable",
    message: `the registry cannot be reached (${code}), and npx has not downloaded pkg`,
    next: "try again with a network connection",
    serverName: "a",
  });
});

test("of a launcher's options only the named ones are passed on, and nothing that means something to a shell", () => {
  const options = ["-y", "--a", "1", "--b=2", "--bc=3", "--b", "x;y", "--a=$(z)", "4"];
  expect(passedOn(options, ["--a", "--b"])).toEqual(["--a", "1", "--b=2", "--b"]);
  expect(passedOn(options, [])).toEqual([]);
});
