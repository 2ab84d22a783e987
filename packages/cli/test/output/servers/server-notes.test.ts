import { expect, test } from "vitest";
import { findDownload, launchNotes } from "../../../src/output/servers/server-notes.ts";

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
  "node server.js",
  "npx ./local",
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
  [http("http://example.com/mcp"), ["not encrypted: others on the network can read and change requests"]],
  [http("http://localhost:3000/mcp"), []],
  [http("http://127.0.0.1:3000/mcp"), []],
  [http("https://example.com/mcp"), []],
])("notes on %j", (transport, notes) => {
  expect(launchNotes(transport)).toEqual(notes);
});
