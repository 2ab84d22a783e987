/*
 * Runs the terminal app on a pseudo-terminal with a replacement for the model, and draws its main screens into
 * docs/images: npm run build && node scripts/record-screens.mjs
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const fromCli = createRequire(join(root, "packages/cli/package.json"));
const { spawn } = fromCli("@lydell/node-pty");
const { Terminal } = fromCli("@xterm/headless");
const { geminiApi, inTurn, realServer, says } = await import(join(root, "packages/test-servers/dist/index.js"));

const size = { cols: 100, rows: 34 };
const folder = mkdtempSync(join(tmpdir(), "ada-"));
const home = join(folder, "home");
const project = join(home, "project");
const recordings = join(folder, "recordings");
for (const each of [project, recordings, join(home, "notes"), join(home, ".gemini")])
  mkdirSync(each, { recursive: true });
writeFileSync(join(home, "notes/knots.md"), "# Knots\n\n- bowline: a loop that holds\n- cleat hitch: to a cleat\n");

/** The app in its own terminal, with everything that it has written so far. */
function openApp(env = {}, argv = []) {
  const view = new Terminal({ ...size, allowProposedApi: true });
  let output = "";
  let onDrawn = () => {};
  const child = spawn(process.execPath, [join(root, "packages/cli/bin/fairlead.cjs"), ...argv], {
    ...size,
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", COLORTERM: "truecolor", ...env },
  });
  child.onData((data) => {
    output += data;
    view.write(data, () => onDrawn());
  });
  const screen = () =>
    Array.from({ length: view.rows }, (_, row) => view.buffer.active.getLine(view.buffer.active.baseY + row))
      .map((line) => line?.translateToString(true) ?? "")
      .join("\n");
  return {
    type: (text) => child.write(text),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`never seen: ${pattern}\n${screen()}`)), 20_000);
        onDrawn = () => {
          if (!pattern.test(screen())) return;
          clearTimeout(patience);
          resolve();
        };
        onDrawn();
      }),
    /** Replaces the path of the temporary folder, which must not appear in the pictures. The picture begins at `from`. */
    record: (name, from) => {
      const shown = output.replaceAll(home, "/home/ada");
      const recording = { columns: size.cols, rows: size.rows, title: "fairlead", output: shown, from };
      writeFileSync(join(recordings, `${name}.json`), JSON.stringify(recording));
    },
    end: () =>
      new Promise((resolve) => {
        child.onExit(resolve);
        child.kill("SIGTERM");
      }),
  };
}

async function firstRun() {
  const app = openApp();
  await app.until(/\/help shows everything/);
  app.type("demo.statistics text='one two three'\r");
  await app.until(/longestWord[\s\S]*› /);
  await app.until(/^1 ready/m);
  app.record("first-run");
  await app.end();
}

const notes = `${home}/notes`;
const answer = [
  "Two of them are in `knots.md`:\n\n",
  "| knot | what for |\n| --- | --- |\n| bowline | a loop that **holds** |\n| cleat hitch | to a cleat |\n\n",
  "Shall I add the *sheet bend*?\n",
];

async function conversation() {
  const api = await geminiApi({
    answer: inTurn(
      {
        pieces: [
          { text: "I will look at your notes." },
          { call: "list_directory", args: { path: notes } },
          { call: "read_text_file", args: { path: `${notes}/knots.md` } },
        ],
      },
      says(...answer),
      {
        pieces: [
          {
            call: "edit_file",
            args: {
              path: `${notes}/knots.md`,
              edits: [{ oldText: "- cleat", newText: "- sheet bend: joins two lines\n- cleat" }],
            },
          },
        ],
      },
      says("Then your notes stay as they are."),
    ),
  });
  const app = openApp({ GEMINI_API_KEY: api.settings.apiKey, GOOGLE_GEMINI_BASE_URL: api.baseUrl });
  await app.until(/^2 ready/m);
  app.type("which knots do I have notes about?\r");
  await app.until(/1 of 2[\s\S]*^›/m);
  app.type("y");
  await app.until(/^(?![\s\S]*1 of 2)[\s\S]*╰─ y[\s\S]*\n›/);
  app.type("y");
  await app.until(/sheet bend\?[\s\S]*› /);
  await app.until(/^(?![\s\S]*working)/);
  app.record("conversation", "› which knots");
  app.type("add the sheet bend to my notes\r");
  await app.until(/╰─ y[\s\S]*^›/m);
  app.record("confirmation", "› add the sheet bend");
  app.type("n");
  await app.until(/stay as they are[\s\S]*› /);
  app.type("/mcp\r");
  await app.until(/╭─ MCP servers[\s\S]*╰─/);
  app.record("mcp-panel", "› add the sheet bend");
  await app.end();
  await api[Symbol.asyncDispose]();
}

async function form() {
  const app = openApp({}, ["--model", "manual"]);
  await app.until(/^2 ready/m);
  app.type("everything.trigger-elicitation-request\r");
  await app.until(/╭─ everything asks you[\s\S]*^›/m);
  app.type("Ada\r");
  await app.until(/Ada/);
  app.record("form", "› everything.trigger");
  await app.end();
}

try {
  await firstRun();
  const files = realServer("filesystem", notes);
  writeFileSync(
    join(home, ".gemini/settings.json"),
    JSON.stringify({ mcpServers: { files, everything: realServer("everything", "stdio") } }),
  );
  await conversation();
  await form();
  execFileSync(process.execPath, [join(root, "scripts/screenshots.mjs"), recordings], { stdio: "inherit" });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
