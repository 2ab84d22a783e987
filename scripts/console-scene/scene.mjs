/*
 * A machine with 20 servers, as the pictures of the console show it: a background host with servers that work, fail,
 * need a sign-in or have changed definitions, two MCP clients, a waiting question, a history and a recorded conversation.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const { authorizationServer, geminiApi, guardedServer, inTurn, realServer, says } = await import(
  join(root, "packages/test-servers/dist/index.js")
);
const { chromium } = createRequire(join(root, "packages/console/package.json"))("playwright-core");
const fairlead = join(root, "packages/cli/bin/fairlead.cjs");

/** Packages of the settings, and the program that runs for each. */
const packages = {
  "@modelcontextprotocol/server-filesystem": ({ home }) => realServer("filesystem", join(home, "notes")),
  "@modelcontextprotocol/server-everything": () => realServer("everything", "stdio"),
  "@modelcontextprotocol/server-memory": () => realServer("memory"),
};

const npx = (name, ...args) => ({ command: "npx", args: ["-y", name, ...args] });
const own = (name) => npx(`@acme/${name}-mcp`);

function settingsOf({ github, closedPort, brokenPort }) {
  return {
    mcpServers: {
      files: npx("@modelcontextprotocol/server-filesystem", "~/notes"),
      linear: own("linear"),
      github: { url: github },
      sentry: own("sentry"),
      kubernetes: { ...own("kubernetes"), env: { KUBECONFIG: "~/.kube/config" } },
      grafana: own("grafana"),
      db: { command: "uvx", args: ["postgres-mcp", "--read-only"], env: { PGHOST: "db.internal" } },
      docs: { url: `http://127.0.0.1:${closedPort}/mcp` },
      warehouse: { url: `http://127.0.0.1:${brokenPort}/mcp` },
      metrics: own("metrics"),
      stripe: { ...own("stripe"), env: { STRIPE_KEY: "${STRIPE_KEY}" } },
      figma: { command: "figma-mcp", args: ["--stdio"] },
      slack: { ...own("slack"), disabled: true },
      memory: npx("@modelcontextprotocol/server-memory"),
      everything: npx("@modelcontextprotocol/server-everything", "stdio"),
      mail: own("mail"),
      calendar: own("calendar"),
      notion: own("notion"),
      weather: own("weather"),
    },
    fairlead: {
      background: "on",
      connectTimeout: 6000,
      servers: Object.fromEntries(["calendar", "notion", "memory"].map((name) => [name, { start: "lazy" }])),
    },
  };
}

/** Puts `npx` and `uvx` on the path: they start the programs of the pictures instead of downloading packages. */
function fakePrograms(bin, home) {
  const real = Object.fromEntries(Object.entries(packages).map(([name, entry]) => [name, entry({ home })]));
  const script = `#!${process.execPath}
const { spawn } = require("node:child_process");
const real = ${JSON.stringify(real)};
const name = process.argv.slice(2).find((word) => !word.startsWith("-"));
const { command, args } = real[name] ?? {
  command: process.execPath,
  args: [${JSON.stringify(join(here, "server.mjs"))}, name === "postgres-mcp" ? "db" : name.replace(/^@acme\\/|-mcp$/g, "")],
};
const child = spawn(command, args, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
`;
  mkdirSync(bin);
  for (const name of ["npx", "uvx"]) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
}

/** An MCP client of the gateway, on stdio. */
class Client {
  #child;
  #next = 1;
  #waiting = new Map();

  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      this.#waiting.get(id)?.(result ?? error);
      this.#waiting.delete(id);
    });
    child.stderr.resume();
  }

  request(method, params = {}) {
    const id = this.#next;
    this.#next += 1;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  call(name, args = {}) {
    return this.request("tools/call", { name, arguments: args });
  }

  async greet(name, version) {
    await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name, version },
    });
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    await this.request("tools/list");
  }

  end() {
    this.#child.stdin.end();
  }
}

const answers = inTurn(
  {
    pieces: [
      { text: "I will look at the issues and the pods first." },
      { call: "list_issues", args: { team: "ENG" } },
      { call: "list_pods", args: {} },
    ],
  },
  says(
    "The worker is the problem:\n\n",
    "| pod | state | restarts |\n| --- | --- | --- |\n| worker-5b8c6f-hh7zt | CrashLoopBackOff | 14 |\n\n",
    "`ENG-412` has the same cause: exports wait for the queue that **worker** does not read.\n",
  ),
);

/** What has happened on the machine before its console is opened. Returns the clients that still run. */
async function work({ home, project, run, client }) {
  const workspace = { mcpServers: { jira: { ...own("jira"), env: { JIRA_SITE: "acme.example" } } } };
  await run("trust", "add", "--yes", project);
  writeFileSync(join(project, ".gemini/settings.json"), `${JSON.stringify(workspace, null, 2)}\n`);
  for (const [decision, ...rule] of [
    ["allow", "linear.*"],
    ["allow", "kubernetes.*"],
    ["allow", "grafana.*"],
    ["allow", "sentry.*"],
    ["allow", "calendar.list_events"],
    ["allow", "notion.search_pages"],
    ["allow", "weather.*"],
    ["allow", "files.read_text_file"],
    ["allow", "files.list_directory"],
    ["deny", "kubernetes.delete_pod"],
    ["ask", "linear.close_issue"],
    ["deny", "mail.send_mail", "--client", "codex"],
  ])
    await run("policy", decision, ...rule);

  const claude = await client("claude-desktop", "claude-ai", "1.4.2");
  const codex = await client("codex", "codex-mcp-client", "0.52.0");
  const notes = (file) => join(home, "notes", file);
  await claude.call("list_issues", { team: "ENG" });
  await claude.call("list_pods", { namespace: "prod" });
  await codex.call("search_errors", { query: "TypeError" });
  await codex.call("list_events", { from: "2026-11-18", to: "2026-11-19" });
  await codex.call("search_pages", { query: "queue" });
  await claude.call("query_metrics", { query: "histogram_quantile(0.99, api_seconds)" });
  await claude.call("read_text_file", { path: notes("queue.md") });
  await codex.call("delete_pod", { pod: "worker-5b8c6f-hh7zt" });
  await codex.call("send_mail", { to: "team@acme.example", subject: "Exports", body: "They work again." });
  await run("call", "files.read_text_file", `path=${notes("missing.md")}`);
  await run("call", "weather.forecast", "place=Rome", "days=2");
  process.stderr.write((await run("-p", "why are exports slow?")).output);

  // The update of a server changes two of its definitions.
  writeFileSync(join(home, ".sentry-changed"), "");
  await run("mcp", "restart", "sentry");
  for (const name of ["calendar", "notion"]) await run("mcp", "stop", name);
  for (const name of ["docs", "warehouse", "github"]) await run("mcp", "restart", name);
  await claude.call("list_issues", { team: "ENG", state: "In review" });
  await codex.call("get_issue", { id: "ENG-412" });
  await claude.call("pod_logs", { pod: "worker-5b8c6f-hh7zt", lines: 50 });
  // Nobody has answered these yet.
  void claude.call("write_file", {
    path: notes("queue.md"),
    content:
      "# Queue\n\nThe worker reads `exports`, `mails` and `invoices`.\n\nRestart it after each change of the schema.\n",
  });
  void claude.call("close_issue", { id: "ENG-409", comment: "Uploads are retried since 4.12." });
  void codex.call("resolve_error", { group: "JS-2231", purge: true });
  return [claude, codex];
}

/** Starts everything, and opens the console in Chromium. `isEmpty`: a machine with no server, on its first day. */
export async function consoleScene({ isEmpty = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ada-"));
  const home = join(folder, "home");
  const project = join(home, "project");
  for (const each of [join(project, ".gemini"), join(home, "notes"), join(home, ".gemini")])
    mkdirSync(each, { recursive: true });
  writeFileSync(join(home, "notes/knots.md"), "# Knots\n\n- bowline: a loop that holds\n- cleat hitch: to a cleat\n");
  writeFileSync(join(home, "notes/queue.md"), "# Queue\n\nThe worker reads `exports` and `mails`.\n");
  fakePrograms(join(folder, "bin"), home);

  const broken = createServer((_, response) => response.writeHead(503).end("upstream is down"));
  const closed = createServer();
  const listen = (server) =>
    new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
  const [brokenPort, closedPort] = await Promise.all([listen(broken), listen(closed)]);
  await new Promise((resolve) => closed.close(resolve));
  const authorization = await authorizationServer();
  const github = await guardedServer({ authorization });
  const api = await geminiApi({ answer: answers });

  const settings = isEmpty
    ? { fairlead: { background: "on" } }
    : settingsOf({ github: github.url, closedPort, brokenPort });
  writeFileSync(join(home, ".gemini/settings.json"), `${JSON.stringify(settings, null, 2)}\n`);
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: home,
    LANG: "C.UTF-8",
    GEMINI_API_KEY: api.settings.apiKey,
    GOOGLE_GEMINI_BASE_URL: api.baseUrl,
  };
  const start = (...argv) => spawn(process.execPath, [fairlead, ...argv], { cwd: project, env, stdio: "pipe" });
  const run = (...argv) =>
    new Promise((resolve) => {
      const child = start(...argv);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
      child.stdin.end();
      child.on("exit", (code) => resolve({ code, output }));
    });
  const children = [];
  const client = async (id, name, version) => {
    const child = start("serve", "--client", id);
    children.push(child);
    const client = new Client(child);
    await client.greet(name, version);
    return client;
  };

  const clients = isEmpty ? [] : await work({ home, project, run, client });
  const console = start("console", "--no-open");
  children.push(console);
  const lines = createInterface({ input: console.stdout });
  const address = new Promise((resolve) => lines.once("line", resolve));
  console.stderr.resume();
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(await address);
  await page.getByText("live", { exact: true }).first().waitFor();

  return {
    page,
    browser,
    folder,
    home,
    async end() {
      await browser.close();
      for (const each of clients) each.end();
      console.kill("SIGINT");
      await run("daemon", "stop");
      for (const child of children) child.kill();
      broken.close();
      for (const each of [github, authorization, api]) await each[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
