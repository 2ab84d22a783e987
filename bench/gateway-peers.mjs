// Other gateways, installed in a temporary folder that is kept for the next run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const versions = { mcporter: "0.12.3", supergateway: "4.0.0", "mcp-proxy": "6.7.19" };

/** Returns one row for each gateway that could be installed: how it is started, and where it listens. */
export function installGatewayPeers(print) {
  const folder = join(tmpdir(), `fairlead-bench-gateways-${Object.values(versions).join("-")}`);
  if (!existsSync(join(folder, "node_modules/.package-lock.json"))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: versions }));
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 240_000 });
    if (status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      print("other gateways skipped: npm cannot install them (is the registry reachable?)");
      return [];
    }
  }
  const bin = (name) => join(folder, "node_modules/.bin", name);
  return [
    {
      label: "mcporter serve (stdio)",
      kind: "stdio",
      command({ home, server }) {
        const file = join(home, "mcporter.json");
        const entry = { command: server.command, args: server.args, lifecycle: "keep-alive" };
        writeFileSync(file, JSON.stringify({ mcpServers: { s0: entry } }));
        return [bin("mcporter"), "--config", file, "serve", "--stdio"];
      },
    },
    {
      label: "mcp-proxy (HTTP)",
      kind: "http",
      url: () => "http://127.0.0.1:18431/mcp",
      command: ({ server }) => [
        bin("mcp-proxy"),
        "--port",
        "18431",
        "--server",
        "stream",
        "--",
        server.command,
        ...server.args,
      ],
    },
    {
      label: "supergateway (HTTP)",
      kind: "http",
      url: () => "http://127.0.0.1:18432/mcp",
      command({ server }) {
        const words = "--stateful --outputTransport streamableHttp --port 18432 --logLevel none".split(" ");
        return [bin("supergateway"), "--stdio", `${server.command} ${server.args.join(" ")}`, ...words];
      },
    },
  ];
}
