import { expect, test } from "vitest";
import { adHocName } from "../../src/targets/ad-hoc-server.ts";

test.each([
  [{ url: "https://mcp.example.com/mcp" }, "mcp.example.com"],
  [{ url: "http://localhost:3000/sse" }, "localhost-3000"],
  [{ url: "http://[::1]:3000/" }, "1-3000"],
  [{ url: "https://user:secret@example.com/?key=secret" }, "example.com"],
  [{ url: "https://$HOST/mcp" }, "host"],
  [{ command: "npx", args: ["-y", "@modelcontextprotocol/server-memory@1.0.0"] }, "server-memory"],
  [{ command: "/usr/bin/npx", args: ["--yes", "some-server", "--token", "secret"] }, "some-server"],
  [{ command: "uvx", args: ["mcp-server-git==1.2"] }, "mcp-server-git"],
  [{ command: "docker", args: ["run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/org/server:latest"] }, "server"],
  [{ command: "node", args: ["--no-warnings", "dist/my-server.mjs"] }, "my-server"],
  [{ command: "python3", args: ["-u", "server.py", "secret"] }, "server"],
  [{ command: "node", args: ["/x/node_modules/@scope/server-memory/dist/index.js"] }, "server-memory"],
  [{ command: "node", args: ["./dist/index.js"] }, "index"],
  [{ command: "deno", args: ["run", "main.ts"] }, "main"],
  [{ command: "/opt/bin/db server" }, "db-server"],
  [{ command: "./…" }, "server"],
  [{ command: "x".repeat(500) }, "x".repeat(60)],
])("%j is called %s", (entry, name) => {
  expect(adHocName(entry)).toBe(name);
});
