import { chmod, mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasBubblewrap, temporaryFolder, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/index.ts";
import { isPublicAddress } from "../../src/net/address-rules.ts";
import { openBoxed } from "./open-box.ts";

const canBox = hasBubblewrap("servers in their sandbox");

async function failureOf(work: Promise<unknown>): Promise<HostError> {
  const outcome = await work.catch((error: unknown) => error);
  if (outcome instanceof HostError) return outcome;
  throw new Error(`did not fail with a HostError: ${String(outcome)}`);
}

const put = (home: string, name: string, text = "secret") =>
  mkdir(join(home, name, ".."), { recursive: true }).then(() => writeFile(join(home, name), text));

describe.runIf(canBox)("files of a server in its sandbox", () => {
  test("nothing of home and workspace is there, only a home folder of its own that stays", async () => {
    await using boxed = await openBoxed({ prepare: (home) => put(home, ".ssh/id_ed25519") });
    const read = await boxed.run(
      `return fs.readFileSync(${JSON.stringify(join(boxed.home, ".ssh/id_ed25519"))}, "utf8")`,
    );
    expect(read).toMatch(/^failed: ENOENT/);
    expect(await boxed.run(`return [process.env.HOME, process.cwd(), fs.readdirSync("/home").join()].join(" ")`)).toBe(
      "/home/sandbox /home/sandbox sandbox",
    );
    expect(await boxed.run(`fs.writeFileSync("kept", "x"); return fs.readdirSync(process.env.HOME).join()`)).toBe(
      "kept",
    );
    await boxed.host.stop(["s"]);
    expect(await boxed.run(`return fs.readdirSync(process.env.HOME).join()`)).toBe("kept");
  });

  test("the system, the program's files and the root folder cannot be written", async () => {
    await using boxed = await openBoxed();
    for (const path of ["/usr/planted", "/etc/planted", "/planted", "/run/fairlead/planted"])
      expect(await boxed.run(`fs.writeFileSync(${JSON.stringify(path)}, "x"); return "written"`)).toMatch(
        /^failed: E(ROFS|ACCES)/,
      );
    expect(await boxed.run(`fs.writeFileSync(process.argv[1], "x"); return "written"`)).toMatch(/^failed: EROFS/);
  });

  test("listed folders are there, to read or to write", async () => {
    await using boxed = await openBoxed({
      prepare: (home) => Promise.all([put(home, "notes/a.md", "note"), put(home, "out/old", "old")]),
      sandbox: { read: ["~/notes"], write: ["~/out"] },
    });
    const at = (name: string) => JSON.stringify(join(boxed.home, name));
    expect(await boxed.run(`return fs.readFileSync(${at("notes/a.md")}, "utf8")`)).toBe("note");
    expect(await boxed.run(`fs.writeFileSync(${at("notes/b.md")}, "x"); return "written"`)).toMatch(/^failed: EROFS/);
    expect(await boxed.run(`fs.writeFileSync(${at("out/new")}, "x"); return "written"`)).toBe("written");
    expect(await readFile(join(boxed.home, "out/new"), "utf8")).toBe("x");
  });

  test("Fairlead's own files are hidden and the settings cannot be changed, also if all of home is listed", async () => {
    await using boxed = await openBoxed({
      prepare: (home) => Promise.all([put(home, ".fairlead/token"), put(home, ".bashrc", "x")]),
      sandbox: { write: ["~"] },
    });
    const at = (name: string) => JSON.stringify(join(boxed.home, name));
    expect(await boxed.run(`return fs.readdirSync(${at(".fairlead")}).length`)).toBe("0");
    for (const name of [".gemini/settings.json", ".gemini/planted.json", ".bashrc"])
      expect(await boxed.run(`fs.writeFileSync(${at(name)}, "{}"); return "written"`)).toMatch(/^failed: E(ROFS|BUSY)/);
    expect(await boxed.run(`fs.writeFileSync(${at("ordinary")}, "x"); return "written"`)).toBe("written");
  });

  test("a listed file that the server replaces by a link is not followed at the next start", async () => {
    await using boxed = await openBoxed({
      prepare: (home) => Promise.all([put(home, "out/sub/x", "mine"), put(home, ".ssh/key")]),
      sandbox: { read: ["~/out/sub"], write: ["~/out"] },
    });
    expect(await boxed.run("return 1")).toBe("1");
    await rename(join(boxed.home, "out/sub"), join(boxed.home, "out/moved"));
    await symlink(join(boxed.home, ".ssh"), join(boxed.home, "out/sub"));
    await boxed.host.stop(["s"]);
    const error = await failureOf(boxed.run("return 2"));
    expect([error.code, error.message]).toEqual(["settings_invalid", expect.stringContaining("has become a link to")]);
  });

  test("a listed path that does not exist stops the server, and the error names it", async () => {
    await using boxed = await openBoxed({ sandbox: { read: ["~/nowhere"] } });
    const error = await failureOf(boxed.run("return 1"));
    expect(error.message).toBe(
      `"s" cannot start in its sandbox: ${join(boxed.home, "nowhere")} is listed, but it does not exist`,
    );
  });
});

describe.runIf(canBox)("the environment of a server in its sandbox", () => {
  test("has the entry's variables and those of the profile, and none else of the host's", async () => {
    await using boxed = await openBoxed({
      entry: { env: { OWN: "entry" } },
      sandbox: { env: ["LISTED"] },
      env: { LISTED: "listed", OTHER: "other", GITHUB_TOKEN: "t" },
    });
    expect(
      await boxed.run(
        `const { OWN, LISTED, OTHER, GITHUB_TOKEN } = process.env; return [OWN, LISTED, OTHER, GITHUB_TOKEN]`,
      ),
    ).toBe("entry,listed,,");
  });

  test("does not show a file because a variable of the entry calls it certificates", async () => {
    const key = "-----BEGIN OPENSSH PRIVATE KEY-----";
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "key"), key);
    await writeFile(join(folder.path, "own.pem"), "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n");
    const [secret, own] = [join(folder.path, "key"), join(folder.path, "own.pem")];
    await using boxed = await openBoxed({
      entry: { env: { SSL_CERT_DIR: folder.path, SSL_CERT_FILE: secret, CURL_CA_BUNDLE: own } },
    });
    expect(await boxed.run(`return fs.readFileSync("${secret}", "utf8")`)).toMatch(/^failed: ENOENT/);
    expect(await boxed.run(`return fs.readFileSync("${own}", "utf8")`)).toMatch(/^-----BEGIN CERTIFICATE/);
  });

  test("does not run what the entry's variables name outside of the sandbox", async () => {
    await using folder = await temporaryFolder();
    const library = join(folder.path, "planted.so");
    await writeFile(library, "not a library");
    await using boxed = await openBoxed({ entry: { env: { LD_PRELOAD: library } } });
    // The loader inside complains that there is no such file: it is not shown. bubblewrap itself did not load it.
    expect(await boxed.run(`return execFileSync("sh", ["-c", "true"]).length`)).toBe("0");
  });

  test("does not have its values in the process list", async () => {
    await using boxed = await openBoxed({ entry: { env: { SECRET: "in-no-list-of-processes" } } });
    const outside = await boxed.run("return process.pid").then(async () => {
      const { execFile } = await import("node:child_process");
      return new Promise<string>((done) =>
        execFile("ps", ["axww", "-o", "args"], { maxBuffer: 1e8 }, (_, text) => done(text)),
      );
    });
    expect(outside).not.toContain("in-no-list-of-processes");
  });
});

describe.runIf(canBox)("processes of a server in its sandbox", () => {
  test("sees no other processes, has no capabilities, and can make no namespace", async () => {
    await using boxed = await openBoxed();
    const seen = await boxed.run(`return fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length`);
    expect(Number(seen)).toBeLessThan(6);
    expect(await boxed.run(`return /CapEff:\\s*(\\w+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]`)).toBe(
      "0000000000000000",
    );
    expect(
      await boxed.run(`return execSync("unshare -Ur true; echo $?", { stdio: ["ignore", "pipe", "ignore"] })`),
    ).not.toBe("0\n");
    expect(await boxed.run(`return /^Seccomp:\\s*(\\d)/m.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]`)).toBe(
      "2",
    );
    expect(await boxed.run(`return execSync("ulimit -c").toString().trim()`)).toBe("0");
  });

  test("a process that begins a session of its own and clears its environment ends with the server", async () => {
    await using boxed = await openBoxed({ prepare: (home) => put(home, "out/x"), sandbox: { write: ["~/out"] } });
    const word = `boxed-${process.pid}-${Date.now()}`;
    await boxed.run(`return execSync("setsid env -i bash -c 'exec -a ${word} sleep 98765' >/dev/null 2>&1 & true")`);
    await boxed.host.stop(["s"]);
    const { execFile } = await import("node:child_process");
    const left = await new Promise<string>((done) => execFile("pgrep", ["-f", word], (_, text) => done(text)));
    expect(left).toBe("");
  });
});

describe.runIf(canBox)("the network of a server in its sandbox", () => {
  const fetched = (url: string) => `return (await fetch(${JSON.stringify(url)})).text()`;

  test("reaches a listed address by every way of Node, and from the programs that it starts", async () => {
    await using web = await webServer(({ path }, response) => response.end(`answer to ${path}`));
    const { host } = new URL(web.origin);
    await using boxed = await openBoxed({ sandbox: { hosts: [host] } });
    expect(await boxed.run(fetched(`${web.origin}/fetch`))).toBe("answer to /fetch");
    expect(
      await boxed.run(
        `return new Promise((done) => http.get("${web.origin}/http", (answer) => answer.on("data", (data) => done(data))))`,
      ),
    ).toBe("answer to /http");
    expect(await boxed.run(`return execFileSync("curl", ["-s", "${web.origin}/curl"])`)).toBe("answer to /curl");
    expect(web.seen.map(({ path }) => path)).toEqual(["/fetch", "/http", "/curl"]);
  });

  test("gets an address for each name that servers with rules about private addresses accept", async () => {
    await using boxed = await openBoxed({ sandbox: { hosts: ["example.invalid"] } });
    const address = await boxed.run(
      `return (await process.getBuiltinModule("dns").promises.lookup("example.invalid")).address`,
    );
    expect([address, isPublicAddress(address)]).toEqual([expect.stringMatching(/^[\d.]+$/), true]);
  });

  test("reaches nothing else: not this machine, no private and no metadata address, no unlisted name", async () => {
    await using web = await webServer((_, response) => response.end("reached"));
    await using boxed = await openBoxed({ sandbox: { hosts: ["example.invalid"] } });
    expect(await boxed.run(fetched(web.origin))).toMatch(/^failed: ECONNREFUSED/);
    for (const address of ["169.254.169.254", "10.0.0.1", "192.168.1.1", "100.100.100.200", "[fd00:ec2::254]"])
      expect(await boxed.run(fetched(`http://${address}/`))).toMatch(
        /^failed: EACCES .*the sandbox of this server does not allow/,
      );
    expect(await boxed.run(fetched("https://unlisted.example/"))).toBe(
      "failed: EACCES connect EACCES unlisted.example:443 - the sandbox of this server does not allow unlisted.example:443",
    );
    expect(
      await boxed.run(`return execSync("curl -s -o /dev/null -w '%{http_connect}' https://unlisted.example; true")`),
    ).toBe("403");
    expect(web.seen).toEqual([]);
  });

  test("a listed name does not list the private addresses that it leads to", async () => {
    await using web = await webServer((_, response) => response.end("reached"));
    const { port } = new URL(web.origin);
    await using boxed = await openBoxed({ sandbox: { hosts: [`ip6-localhost:${port}`, `sandbox.localhost:${port}`] } });
    for (const name of ["ip6-localhost", "sandbox.localhost"])
      expect(await boxed.run(fetched(`http://${name}:${port}/`))).toMatch(/not a public address|ENOTFOUND|EAI_AGAIN/);
    expect(web.seen).toEqual([]);
  });

  test("sockets of virtual machines and other families are refused", async () => {
    await using boxed = await openBoxed();
    const code =
      "import socket\\nfor f in (40, 38, 16, 1):\\n try:\\n  socket.socket(f, socket.SOCK_STREAM if f != 16 else socket.SOCK_RAW); print(f, 'open')\\n except OSError as e: print(f, e.errno)";
    const python = await boxed.run(`return execFileSync("sh", ["-c", "command -v python3 || true"])`);
    if (python.trim() === "") return;
    expect(
      await boxed.run(`return execFileSync("python3", ["-c", ${JSON.stringify(code.replaceAll("\\n", "\n"))}])`),
    ).toBe("40 97\n38 97\n16 open\n1 open\n");
  });
});

test.each([
  [
    "an old bubblewrap",
    '[ "$1" = --version ] && echo bubblewrap 0.7.0 && exit; echo "bwrap: Unknown option --disable-userns" >&2; exit 1',
    /bubblewrap 0\.7\.0 is older than 0\.8\.0/,
    /Install bubblewrap/,
  ],
  [
    "namespaces that the system refuses",
    '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1',
    /this system refuses it: No permissions to create new namespace/,
    /Allow user namespaces/,
  ],
])("with %s, a server that must have a sandbox does not start", async (_, script, why, next) => {
  await using folder = await temporaryFolder();
  const file = await folder.write("bwrap", `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  await using boxed = await openBoxed({ env: { PATH: folder.path }, entry: { command: process.execPath } });
  const error = await failureOf(boxed.run("return 1"));
  expect([error.code, error.message, error.next]).toEqual([
    "sandbox_unavailable",
    expect.stringMatching(why),
    expect.stringMatching(next),
  ]);
  expect(error.next).toContain('set "sandbox": "off" in fairlead.servers.s');
});

test("a program that writes what bubblewrap would is not offered a start without its sandbox", async () => {
  const script = "console.error('bwrap: No permissions to create new namespace'); process.exit(1)";
  await using boxed = await openBoxed({ entry: { command: process.execPath, args: ["-e", script] } });
  const error = await failureOf(boxed.run("return 1"));
  expect([error.code, error.next]).toEqual(["server_exited", "fairlead mcp sandbox s --learn"]);
});

test("without bubblewrap, a server that must have a sandbox does not start", async () => {
  await using folder = await temporaryFolder();
  await using boxed = await openBoxed({ env: { PATH: folder.path }, entry: { command: process.execPath } });
  const error = await failureOf(boxed.run("return 1"));
  expect([error.code, error.message, error.next]).toEqual([
    "sandbox_unavailable",
    '"s" was not started: it must run in a sandbox, and bubblewrap (bwrap) is not installed',
    expect.stringMatching(/Install bubblewrap .*"sandbox": "off"/),
  ]);
});
