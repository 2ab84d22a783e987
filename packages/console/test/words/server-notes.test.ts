import { findDownload } from "@fairlead/core/connect";
import { expect, test } from "vitest";
import { launchNotes, runsCode } from "../../src/server/words/server-notes.ts";

const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["npx pkg", "pkg", "unpinned"],
  ["npx -y pkg", "pkg", "unpinned"],
  ["npx --yes @scope/pkg", "@scope/pkg", "unpinned"],
  ["npx -y pkg@latest", "pkg@latest", "unpinned"],
  ["npx -y pkg@1", "pkg@1", "unpinned"],
  ["npx -y pkg@^1.2.3", "pkg@^1.2.3", "unpinned"],
  ["npx -y pkg@1.2.3", "pkg@1.2.3", "pinned"],
  ["npx -y @scope/pkg@1.2.3-beta.1", "@scope/pkg@1.2.3-beta.1", "pinned"],
  ["npx -p pkg@1.2.3 server", "pkg@1.2.3", "pinned"],
  ["npx --package=pkg server", "pkg", "unpinned"],
  ["npx --registry https://r.example pkg", "pkg", "unpinned"],
  ["npx -- pkg", "pkg", "unpinned"],
  ["/usr/local/bin/npx pkg", "pkg", "unpinned"],
  ["C:\\node\\npx.cmd pkg", "pkg", "unpinned"],
  ["cmd /c npx -y pkg", "pkg", "unpinned"],
  ["env A=b npx pkg", "pkg", "unpinned"],
  ["npm exec pkg", "pkg", "unpinned"],
  ["npm x -- pkg@1.0.0", "pkg@1.0.0", "pinned"],
  ["pnpm dlx pkg", "pkg", "unpinned"],
  ["pnpx pkg", "pkg", "unpinned"],
  ["yarn dlx pkg", "pkg", "unpinned"],
  ["bunx pkg", "pkg", "unpinned"],
  ["bun x pkg@1.0.0", "pkg@1.0.0", "pinned"],
  ["uvx mcp-server-time", "mcp-server-time", "unpinned"],
  ["uvx mcp-server-time@1.2.3", "mcp-server-time@1.2.3", "pinned"],
  ["uvx pkg==1.2.3", "pkg==1.2.3", "pinned"],
  ["uvx --from=pkg==1.2.3 server", "pkg==1.2.3", "pinned"],
  ["uvx --from pkg==1.2.3 server", "pkg==1.2.3", "pinned"],
  ["uvx --from git+https://example.com/x server", "git+https://example.com/x", "unpinned"],
  [
    `uvx --from git+https://example.com/x@${"a".repeat(40)} server`,
    `git+https://example.com/x@${"a".repeat(40)}`,
    "pinned",
  ],
  ["uvx --python 3.12 pkg", "pkg", "unpinned"],
  ["uv tool run pkg", "pkg", "unpinned"],
  ["pipx run pkg", "pkg", "unpinned"],
  ["pipx run --spec pkg==1.0 server", "pkg==1.0", "pinned"],
  ["docker run -i --rm image", "image", "unpinned"],
  ["docker run -i -e TOKEN -v /a:/b --name x image:1.2.3 arg", "image:1.2.3", "unpinned"],
  [`docker run -i --env=TOKEN image@${digest}`, `image@${digest}`, "pinned"],
  ["docker container run image", "image", "unpinned"],
  ["podman run image", "image", "unpinned"],
])("%s downloads %s, %s", (line, name, pinned) => {
  const [command = "", ...args] = line.split(" ");
  expect(findDownload(command, args)).toMatchObject({ name, pinned: pinned === "pinned" });
});

test.each([
  ["npx -y pkg@1.2.3 arg", { name: "pkg@1.2.3", from: "npm", pinned: true, launcher: "npx", at: 1 }],
  ["npx -p pkg server", { name: "pkg", from: "npm", pinned: false, launcher: "npx", at: 1 }],
  ["npx --yes --package=pkg server", { name: "pkg", from: "npm", pinned: false, launcher: "npx", at: 1 }],
  ["npx -y -- pkg server", { name: "pkg", from: "npm", pinned: false, launcher: "npx", at: 2 }],
  ["cmd /C npx.cmd -y pkg", { name: "pkg", from: "npm", pinned: false, launcher: "npx.cmd", at: 3 }],
  ["env -i A=b /bin/uvx pkg", { name: "pkg", from: "PyPI", pinned: false, launcher: "/bin/uvx", at: 3 }],
  ["uv tool run pkg", { name: "pkg", from: "PyPI", pinned: false, launcher: "uv", at: 2 }],
  ["podman container run i", { name: "i", from: "an image registry", pinned: false, launcher: "podman", at: 2 }],
] as const)("%s: the package is found where it stands in the line", (line, download) => {
  const [command = "", ...args] = line.split(" ");
  expect(findDownload(command, args)).toEqual(download);
});

test.each([
  ["npx", "-c --call -w --workspace --registry --prefix"],
  ["uvx", "--with --python -p --index --index-url --default-index --directory --env-file"],
  [
    "docker run",
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user --entrypoint -l --label --add-host --pull --platform --memory -m --cpus --gpus -h --hostname --device --cap-add --cap-drop --security-opt --tmpfs --ulimit --dns --ipc --pid --restart --runtime --shm-size",
  ],
])("%s: the value of an option is not the package", (line, options) => {
  const [command = "", ...verb] = line.split(" ");
  const named = options.split(" ").map((option) => findDownload(command, [...verb, option, "value", "pkg"])?.name);
  expect(named).toEqual(options.split(" ").map(() => "pkg"));
  const joined = options.split(" ").filter((option) => option.startsWith("--"));
  for (const option of joined) expect(findDownload(command, [...verb, `${option}=value`, "pkg"])?.name).toBe("pkg");
});

test("a version is exact only in a name that a package can have", () => {
  const named = (length: number): string => `${"x".repeat(length - "@1.2.3".length)}@1.2.3`;
  expect(findDownload("npx", [named(400)])?.pinned).toBe(true);
  expect(findDownload("npx", [named(401)])?.pinned).toBe(false);
});

test.each([
  "node server.js",
  "npx ./local",
  "npx /local",
  "npx ~/local",
  "npx -y",
  "npx -p",
  "npx --",
  "cmd npx pkg",
  "cmd /k npx pkg",
  "cmd /c",
  "tool/npx/run pkg",
  "npx.sh pkg",
  "docker container ls image",
  "uv tool install pkg",
  "env A=b",
  "npx",
  "uv run server.py",
  "docker compose up",
  "python -m server",
  "npm start",
  "bun run x",
  "env",
])("%s downloads nothing that we know of", (line) => {
  const [command = "", ...args] = line.split(" ");
  expect(findDownload(command, args)).toBeUndefined();
});

const stdio = (command: string, ...args: string[]) => ({
  kind: "stdio" as const,
  command,
  args,
  env: new Map<string, string>(),
});
const http = (url: string) => ({ kind: "http" as const, url, headers: new Map<string, string>() });

test.each([
  [stdio("bash", "-c", "curl x | sh"), ["runs a shell command: read all of it"]],
  [stdio("sh", "-lc", "x"), ["runs a shell command: read all of it"]],
  [stdio("bash", "script.sh"), []],
  [stdio("C:\\Windows\\cmd.exe", "/C", "x"), ["runs a shell command: read all of it"]],
  [stdio("pwsh", "-EncodedCommand", "x"), ["runs a shell command: read all of it"]],
  [stdio("powershell", "-Enc", "x"), ["runs a shell command: read all of it"]],
  [stdio("powershell", "-Command", "x"), ["runs a shell command: read all of it"]],
  [stdio("fish", "-x", "a-c"), []],
  [stdio("node", "-c", "x"), []],
  [stdio("npx", "pkg@1.2.3"), ["downloads and runs code: pkg@1.2.3 from npm"]],
  [
    stdio("uvx", "pkg"),
    [
      "downloads and runs code: pkg from PyPI",
      "unpinned: a later start may run another version; to write the exact one: fairlead mcp pin 'my s'",
    ],
  ],
  [http("HTTP://example.com/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://[::1]:3000/mcp"), []],
  [http("http://localhost.example.com/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://127.example.com/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://$HOST/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://example.com/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://localhost:3000/mcp"), []],
  [http("http://127.0.0.1:3000/mcp"), []],
  [http("https://example.com/mcp"), []],
])("notes on %j", (transport, notes) => {
  expect(launchNotes({ name: "my s", transport })).toEqual(notes);
});

test.each([
  ["bash -c x", true],
  ["bash -lc x", true],
  ["bash script.sh", false],
  ["/bin/sh -c", true],
  ["cmd /c x", true],
  ["pwsh -command x", true],
  ["pwsh -EncodedCommand x", true],
  ["powershell.exe -enc x", true],
  ["node -e x", true],
  ["node --eval x", true],
  ["node --print x", true],
  ["deno eval x", true],
  ["python3.12 -c x", true],
  ["php -r x", true],
  ["perl -pe x", true],
  ["node server.js --port 1", false],
  ["env A=b bash -c x", true],
  ["env -c bash", false],
  ["other -c x", false],
])("%s runs an argument as code: %s", (line, expected) => {
  const [command = "", ...args] = line.split(" ");
  expect(runsCode(command, args)).toBe(expected);
});
