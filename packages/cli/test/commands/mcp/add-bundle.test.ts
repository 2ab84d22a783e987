import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readBundle } from "@fairlead/registry/bundles/bundle";
import { writeZip, type ZipContent } from "@fairlead/registry/bundles/write-zip";
import { hasBubblewrap, temporaryFolder, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { entries, type Machine, machine, userFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const canBox = hasBubblewrap("bundles in their sandbox");

/** An MCP server in one file: its tool tells what it sees. */
const nodeServer = `
const fs = require("node:fs");
const { word } = require("word");
const attempt = (work) => { try { return work(); } catch (error) { return error.code; } };
const look = () => ({
  word,
  args: process.argv.slice(2),
  key: process.env.KEY,
  ownFolder: attempt(() => fs.writeFileSync(__dirname + "/planted", "x")),
  passwords: attempt(() => fs.readFileSync(process.env.SECRET_FILE, "utf8")),
  given: attempt(() => fs.readdirSync(process.argv[2] ?? "/nowhere")),
});
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "b", version: "1" } },
    "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify(look()) }] },
  };
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

const pythonServer = `
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from word import word
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "b", "version": "1"}},
        "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": json.dumps({"word": word, "args": sys.argv[1:]})}]},
    }
    answer = {"result": results[message["method"]]} if message["method"] in results else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
`;

const shellServer = `#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([^,}]*\\).*/\\1/p')
  [ -n "$id" ] || continue
  case "$line" in
    *'"initialize"'*) body='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"b","version":"1"}}' ;;
    *'"tools/list"'*) body='"result":{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) body='"result":{"content":[{"type":"text","text":"{\\"word\\":\\"shell\\",\\"args\\":[\\"'"$1"'\\"]}"}]}' ;;
    *) body='"error":{"code":-32601,"message":"no"}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\\n' "$id" "$body"
done
`;

interface BundleParts {
  readonly manifest?: object;
  readonly files?: Readonly<Record<string, string>>;
}

function bundleOf({ manifest = {}, files = {} }: BundleParts = {}): Buffer {
  const whole = {
    manifest_version: "0.3",
    name: "look",
    version: "1.0.0",
    description: "Looks around",
    author: { name: "Ada" },
    server: { type: "node", entry_point: "server/index.js" },
    ...manifest,
  };
  const contents: Record<string, string> = {
    "manifest.json": JSON.stringify(whole),
    "server/index.js": nodeServer,
    "server/node_modules/word/package.json": '{"name":"word","main":"lib/main.js"}',
    "server/node_modules/word/lib/main.js": 'exports.word = "from a library";',
    ...files,
  };
  return writeZip(
    Object.entries(contents).map(
      ([path, text]): ZipContent => ({ path, content: Buffer.from(text), isExecutable: path.endsWith(".sh") }),
    ),
  );
}

async function machineWith(parts?: BundleParts): Promise<Machine> {
  const here = await machine({ "home/notes/a.md": "note", "home/.ssh/id": "private" });
  await writeFile(join(here.path, "look.mcpb"), bundleOf(parts));
  return here;
}

/** Python of the system: that of version managers lies in the home folder. */
const env = { PATH: "/usr/bin:/bin" };
const add = (here: Machine, ...words: readonly string[]) =>
  here.runWith({ env }, "mcp", "add", "--yes", join(here.path, "look.mcpb"), ...words);

async function look(here: Machine): Promise<unknown> {
  const { stdout, stderr } = await here.runWith({ env }, "call", "look.look", "--alone", "--json");
  const answer = JSON.parse(stdout) as { content?: [{ text: string }] };
  if (answer.content === undefined) throw new Error(`${stdout}\n${stderr}`);
  return JSON.parse(answer.content[0].text);
}

async function bundlesOf(here: Machine): Promise<readonly string[]> {
  return await readdir(join(here.home, ".fairlead/bundles"), { recursive: true }).catch(() => []);
}

describe.runIf(canBox)("real-shaped bundles run in their sandbox", () => {
  test("node, with a library of its own: it sees its folder read-only and nothing of the home", async () => {
    await using here = await machineWith({
      manifest: {
        server: {
          type: "node",
          entry_point: "server/index.js",
          mcp_config: {
            command: "node",
            args: ["${__dirname}/server/index.js"],
            env: { SECRET_FILE: "${HOME}/.ssh/id" },
          },
        },
      },
    });
    const added = await add(here);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('"look" is connected') });
    expect(added.stdout).toContain("signature   unsigned");
    expect(await look(here)).toEqual({
      word: "from a library",
      args: [],
      ownFolder: "EROFS",
      passwords: "ENOENT",
      given: "ENOENT",
    });
    const { sha256 } = readBundle(bundleOf({ manifest: {} }));
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("node, with user_config: folders as arguments, a secret in the secret store", async () => {
    await using here = await machineWith({
      manifest: {
        server: {
          type: "node",
          entry_point: "server/index.js",
          mcp_config: {
            command: "node",
            args: ["${__dirname}/server/index.js", "${user_config.folders}"],
            env: { KEY: "${user_config.key}" },
          },
        },
        user_config: {
          folders: { type: "directory", title: "Folders", description: "", multiple: true, required: true },
          key: { type: "string", title: "API key", description: "", sensitive: true, required: true },
        },
      },
    });
    const missing = await add(here);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("values are missing: folders (Folders), key (API key)"),
    });
    expect(await bundlesOf(here)).toEqual([]);
    const added = await add(here, "--input", "folders=~/notes", "--input", "key=s3cret-key");
    expect(added.code).toBe(0);
    expect(await look(here)).toMatchObject({ args: [join(here.home, "notes")], key: "s3cret-key", given: ["a.md"] });
    expect(JSON.stringify(await entries(here, userFile))).toContain('"KEY":"${secret:look.key}"');
    expect(added.stdout + added.stderr + (await here.read(userFile))).not.toContain("s3cret-key");
  });

  test("platform_overrides", async () => {
    await using here = await machineWith({
      manifest: {
        server: {
          type: "node",
          entry_point: "server/index.js",
          mcp_config: {
            command: "other",
            args: [],
            platform_overrides: { linux: { command: "node", args: ["${__dirname}/server/index.js", "linux"] } },
          },
        },
      },
    });
    expect(await add(here)).toMatchObject({ code: 0 });
    expect(await look(here)).toMatchObject({ args: ["linux"] });
  });

  test.runIf(existsSync("/usr/bin/python3"))("python", async () => {
    await using here = await machineWith({
      manifest: { server: { type: "python", entry_point: "main.py" } },
      files: { "main.py": pythonServer, "lib/word.py": 'word = "from python"' },
    });
    expect(await add(here)).toMatchObject({ code: 0 });
    expect(await look(here)).toEqual({ word: "from python", args: [] });
  });

  test("a shell script as a binary", async () => {
    await using here = await machineWith({
      manifest: {
        server: { type: "binary", entry_point: "bin/run.sh", mcp_config: { command: "bin/run.sh", args: ["$HOME"] } },
      },
      files: { "bin/run.sh": shellServer },
    });
    expect(await add(here)).toMatchObject({ code: 0 });
    expect(await look(here)).toEqual({ word: "shell", args: ["$HOME"] });
  });
});

describe("adding and removing", () => {
  test("the files go with the server, and undo brings both back", async () => {
    await using here = await machineWith();
    expect(await add(here, "--no-test", "--sandbox", "off", "--name", "looker")).toMatchObject({ code: 0 });
    const before = await here.read(userFile);
    const { code, stderr } = await here.run("mcp", "remove", "looker");
    expect(code).toBe(0);
    expect(await bundlesOf(here)).not.toContain("look");
    const undo = /fairlead (mcp add .*)$/m.exec(stderr)?.[1] ?? "";
    const words = [...undo.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    expect(await here.run(...words.slice(0, 2), "--no-test", ...words.slice(2))).toMatchObject({ code: 0 });
    expect(JSON.parse(await here.read(userFile))).toMatchObject({
      mcpServers: (JSON.parse(before) as { mcpServers: object }).mcpServers,
    });
    expect(await bundlesOf(here)).toContain("look");
  });

  test("the settings say where it comes from", async () => {
    await using here = await machineWith();
    await add(here, "--no-test", "--sandbox", "off");
    const { sha256 } = readBundle(bundleOf());
    expect(JSON.parse(await here.read(userFile))).toMatchObject({
      fairlead: { servers: { look: { origin: { kind: "mcpb", name: "look", version: "1.0.0", sha256 } } } },
    });
  });

  test("without a terminal it needs --yes, and shows first what would run", async () => {
    await using here = await machineWith();
    const { code, stdout, stderr } = await here.run("mcp", "add", "--sandbox", "off", join(here.path, "look.mcpb"));
    expect(code).toBe(2);
    expect(stdout).toContain("runs        ");
    expect(stderr).toContain('"look" needs a yes before it is added');
    expect(await bundlesOf(here)).toEqual([]);
  });

  test("on a terminal each value is asked for, and a no changes nothing", async () => {
    await using here = await machineWith({
      manifest: {
        user_config: { n: { type: "number", title: "Count", description: "How many", max: 5, required: true } },
      },
    });
    await using terminal = openTerminalHere(here, "mcp", "add", "--no-test", join(here.path, "look.mcpb"));
    await terminal.until(/Count \(number up to 5\):\s*$/);
    terminal.type("9\r");
    await terminal.until(/"Count" is more than 5[\s\S]*Count \(number up to 5\):\s*$/);
    terminal.type("3\r");
    await terminal.until(/Add "look"\? \[y\/N\]\s*$/);
    terminal.type("n\r");
    await terminal.until(/nothing was changed/);
    expect(await bundlesOf(here)).toEqual([]);
  });

  test("an address needs its digest, and the right one", async () => {
    const bytes = bundleOf();
    await using here = await machine();
    await using site = await webServer((_request, response) => response.end(bytes));
    const address = `${site.origin}/look.mcpb`;
    const run = (...words: readonly string[]) =>
      here.run("mcp", "add", "--yes", "--no-test", "--sandbox", "off", ...words, address);
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("needs --sha256") });
    expect(await run("--sha256", "00".repeat(32))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("its SHA-256 is"),
    });
    expect(await bundlesOf(here)).toEqual([]);
    expect(await run("--sha256", readBundle(bytes).sha256)).toMatchObject({ code: 0 });
  });

  test.each([
    [["--header", "A: b"], /--header does not work with a bundle/],
    [["--input", "x=1"], /the bundle asks for no value "x"/],
    [["--name", ""], /not a valid server name/],
  ])("%j is refused", async (words, message) => {
    await using here = await machineWith();
    const { code, stderr } = await add(here, "--no-test", "--sandbox", "off", ...words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
    expect(await bundlesOf(here)).toEqual([]);
  });

  test("a damaged file is refused, and nothing is left", async () => {
    await using folder = await temporaryFolder();
    await using here = await machine();
    await writeFile(join(folder.path, "broken.mcpb"), bundleOf().subarray(0, -5));
    const { code, stderr } = await here.run(
      "mcp",
      "add",
      "--yes",
      "--sandbox",
      "off",
      join(folder.path, "broken.mcpb"),
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("the bundle broken.mcpb was refused: it is not a zip file"),
    });
    expect(await bundlesOf(here)).toEqual([]);
  });
});

test("a name that is taken: nothing is asked, stored or unpacked", async () => {
  const secret = { type: "string", title: "Key", description: "", sensitive: true, required: true };
  await using here = await machineWith({ manifest: { user_config: { key: secret } } });
  await here.write(userFile, { mcpServers: { look: { command: "mine" } } });
  const words = ["--sandbox", "off", "--no-test", "--input", "key=s3cret"];
  const taken = await add(here, ...words);
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining("--name NAME, or add --replace")]);
  expect(await bundlesOf(here)).toEqual([]);
  expect((await here.run("secret", "list", "--json")).stdout).not.toContain("key");
  expect(await add(here, ...words, "--name", "other")).toMatchObject({ code: 0 });
});

test("a bundle that does not exist is a missing file, not a domain", async () => {
  await using here = await machine();
  const { code, stderr } = await here.run("mcp", "add", "--yes", "nothere.mcpb");
  expect([code, stderr]).toEqual([2, expect.stringMatching(/nothere\.mcpb cannot be read: .*ENOENT|no such file/)]);
});
