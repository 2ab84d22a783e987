/** The Dockerfile: its rules, and what its lines do. No test has a Docker daemon, so bubblewrap runs the lines on folders that stand for the image. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { chmod, cp, mkdir, readlink } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createDatabase,
  noteProgram,
  PostgresServer,
  postgresVersion,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import { type Copy, DockerfileParser, type Instruction, type JSONInstruction } from "dockerfile-ast";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const text = readFileSync(join(repository, "deploy/Dockerfile"), "utf8");
const file = DockerfileParser.parse(text);
const instructions = file.getInstructions();
const second = instructions.findLastIndex((each) => each.getKeyword() === "FROM");
const building = instructions.slice(0, second);
const final = instructions.slice(second);

const named = (keyword: string, among: readonly Instruction[] = instructions): readonly Instruction[] =>
  among.filter((each) => each.getKeyword() === keyword);
const wordsOf = (instruction: Instruction | undefined): readonly string[] =>
  instruction?.getArguments().map((argument) => argument.getValue()) ?? [];
const jsonOf = (keyword: string): readonly string[] =>
  (named(keyword, final)[0] as JSONInstruction | undefined)?.getJSONStrings().map((each) => each.getJSONValue()) ?? [];
/** A RUN line as a shell reads it. */
const shellText = (run: Instruction): string => run.getRawArgumentsContent() ?? "";

describe("the Dockerfile", () => {
  it("takes both stages from one image, whose digest the builder names", () => {
    expect(file.getFROMs().map((from) => from.getImage())).toEqual(["${NODE_IMAGE}", "${NODE_IMAGE}"]);
    expect(wordsOf(named("ARG")[0])).toEqual(["NODE_IMAGE=node:20-bookworm-slim"]);
    expect(text).toContain("--build-arg NODE_IMAGE=node:20-bookworm-slim@sha256:");
  });

  it("copies only what exists and what the ignore file leaves, and fetches nothing", () => {
    expect(named("ADD")).toEqual([]);
    const rules = readFileSync(join(repository, "deploy/Dockerfile.dockerignore"), "utf8").split("\n");
    for (const copy of named("COPY", building)) {
      expect(copiesFrom(copy)).toBeUndefined();
      for (const source of wordsOf(copy).slice(0, -1)) {
        expect(existsSync(join(repository, source)), source).toBe(true);
        expect(rules, source).toContain(`!${source}`);
      }
    }
    for (const copy of named("COPY", final)) expect(copiesFrom(copy)).toBe("build");
    expect(text).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)|curl|wget|git clone/);
  });

  it("runs as a user without rights, and ends by SIGTERM", () => {
    expect(wordsOf(named("USER", final).at(-1))).toEqual(["10001:10001"]);
    expect(named("STOPSIGNAL", final).map(wordsOf)).toEqual([["SIGTERM"]]);
    // A shell as the first process would not pass the signal on.
    expect([...jsonOf("ENTRYPOINT"), ...jsonOf("CMD")]).toEqual([
      "node",
      "/opt/fairlead/bin/fairlead.cjs",
      "serve",
      "--team",
    ]);
    const setters = ["RUN", "COPY"].flatMap((keyword) => named(keyword, final));
    const user = final.findIndex((each) => each.getKeyword() === "USER");
    expect(setters.every((each) => final.indexOf(each) < user)).toBe(true);
  });

  it("knows by itself whether the gateway answers", () => {
    const [health] = named("HEALTHCHECK", final);
    expect(wordsOf(health)).toContain("CMD");
    expect(health?.getRawArgumentsContent()).toContain("http://127.0.0.1:8080/livez");
    expect(wordsOf(named("EXPOSE", final)[0])).toEqual(["8080", "9090"]);
  });
});

const bubblewrap = /bubblewrap (\S+)/.exec(String(spawnSync("bwrap", ["--version"]).stdout))?.[1];
/** Whether this machine lets bubblewrap make a user and a network of its own. */
const works =
  bubblewrap !== undefined &&
  spawnSync("bwrap", ["--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"]).status === 0;
noteProgram("the lines of the Dockerfile", "bubblewrap", works ? bubblewrap : undefined);

noteProgram("the gateway of the image", "PostgreSQL", works ? postgresVersion() : undefined);

describe.runIf(works)("the lines of the Dockerfile", () => {
  let folder: TemporaryFolder;
  const at = (name: string): string => join(folder.path, name);

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const name of ["src", "image", "local/bin", "local/lib/node_modules", "opt", "state", "etc"])
      await mkdir(at(name), { recursive: true });
    for (const name of ["npm", "npx", "corepack", "yarn", "yarnpkg", "other"])
      await folder.write(`local/bin/${name}`, "");
    await folder.write("local/bin/node", "");
    await folder.write("local/lib/node_modules/npm/package.json", {});
    for (const copy of named("COPY", building)) {
      const words = wordsOf(copy);
      for (const source of words.slice(0, -1)) {
        const target = words.length > 2 && words.at(-1) === "./" ? basename(source) : (words.at(-1) ?? "");
        await cp(join(repository, source), at(`src/${target}`), { recursive: true, filter: isSent });
      }
    }
    for (const run of named("RUN", building)) {
      if (shellText(run).startsWith("npm ci")) await linkPackages();
      else inSandbox(["--chdir", "/src", ...stageMounts()], shellText(run));
    }
    for (const copy of named("COPY", final)) {
      const [source = "", target = ""] = wordsOf(copy);
      await cp(at(source.slice(1)), at(target === "/opt/fairlead" ? "opt/fairlead" : "state"), { recursive: true });
    }
    for (const run of named("RUN", final)) inSandbox([], shellText(run));
  });
  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
  });

  it("leave no program that installs packages", () => {
    expect(readdirSync(at("local/bin"))).toEqual(["node", "other"]);
    expect(readdirSync(at("local/lib"))).toEqual([]);
  });

  it("give a command that runs by itself, as the user of the image and with a root that it cannot change", () => {
    const { version } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")).packages[
      "packages/cli"
    ];
    const out = inSandbox(
      [...imageMounts(), "--unshare-user", "--uid", "10001", "--gid", "10001", "--unshare-net"],
      `id -u && node /opt/fairlead/bin/fairlead.cjs --version && (touch /opt/fairlead/x 2>/dev/null || echo closed)`,
    );
    expect(out.trim().split("\n")).toEqual(["10001", version, "closed"]);
  });

  it.runIf(postgresVersion() !== undefined)("give a gateway that is healthy, and ends by SIGTERM", async () => {
    await using postgres = await PostgresServer.open();
    if (postgres === undefined) throw new Error("PostgreSQL is absent");
    // The user of the image may reach the socket, and nothing else in the folder.
    await chmod(postgres.folder, 0o711);
    await using database = await createDatabase(postgres);
    const team = {
      url: "https://mcp.company.example",
      listen: "0.0.0.0:8080",
      store: { url: database.url },
      keys: `k1 ${Buffer.alloc(32, 7).toString("base64")}`,
      auth: { apiKeys: true },
      drain: { wait: "0s" },
    };
    await folder.write("etc/settings.json", { fairlead: { team } });
    const command = [...jsonOf("ENTRYPOINT"), ...jsonOf("CMD")].join(" ");
    const [health = ""] = /\[.*\]/s.exec(named("HEALTHCHECK", final)[0]?.getRawArgumentsContent() ?? "") ?? [];
    const check = (JSON.parse(health) as readonly string[])
      .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
      .join(" ");
    const mounts = [
      ...imageMounts(),
      "--ro-bind",
      at("etc"),
      "/etc/gemini-cli",
      "--bind",
      postgres.folder,
      postgres.folder,
    ];
    const out = inSandbox(
      [...mounts, "--unshare-user", "--uid", "10001", "--gid", "10001", "--unshare-net"],
      `(${check}) || echo "not healthy yet"
      ${command} >/tmp/ready 2>/tmp/log & gateway=$!
      until [ -s /tmp/ready ]; do kill -0 $gateway || { cat /tmp/log; exit 1; }; sleep 0.1; done
      ${check} && echo healthy
      kill -TERM $gateway && wait $gateway && echo ended`,
    );
    expect(out.trim().split("\n")).toEqual(["not healthy yet", "healthy", "ended"]);
  });

  /** Packages of npm are those of this checkout; the program's own come from the copied folder. */
  async function linkPackages(): Promise<void> {
    const modules = join(repository, "node_modules");
    for (const name of readdirSync(modules)) {
      const target = join(modules, name);
      if (name === "@fairlead" || name === "fairlead") await cp(target, at(`src/node_modules/${name}`), verbatim);
      else {
        await mkdir(at("src/node_modules"), { recursive: true });
        symlinkSync(target, at(`src/node_modules/${name}`));
      }
    }
    expect(await readlink(at("src/node_modules/@fairlead/core"))).toBe("../../packages/core");
  }

  function stageMounts(): readonly string[] {
    return ["--ro-bind", repository, repository, "--bind", at("src"), "/src", "--bind", at("image"), "/image"];
  }

  function imageMounts(): readonly string[] {
    return ["--ro-bind", at("opt"), "/opt", "--bind", at("state"), "/var/lib/fairlead", "--chdir", "/var/lib/fairlead"];
  }

  /** Runs shell text with the environment of the image and the folders of Debian. Returns its output. */
  function inSandbox(mounts: readonly string[], shell: string): string {
    const libraries = ["/usr", "/lib", "/lib64", "/bin"].flatMap((path) => ["--ro-bind-try", path, path]);
    const node = ["--bind", at("local"), "/usr/local", "--ro-bind", process.execPath, "/usr/local/bin/node"];
    const variables = named("ENV", final).flatMap((env) => wordsOf(env).map((word) => word.split("=")));
    const environment = [["PATH", "/usr/local/bin:/usr/bin:/bin"], ...variables].flatMap(([name = "", value = ""]) => [
      "--setenv",
      name,
      value,
    ]);
    const args = ["--clearenv", ...environment, "--tmpfs", "/", ...libraries, "--dev", "/dev", "--proc", "/proc"];
    const all = [...args, "--tmpfs", "/tmp", ...mounts, ...node, "--die-with-parent", "sh", "-ec", shell];
    const ended = spawnSync("bwrap", all, { encoding: "utf8" });
    expect(ended.stderr, shell).toBe("");
    expect(ended.status, shell).toBe(0);
    return ended.stdout;
  }
});

const verbatim = { recursive: true, verbatimSymlinks: true } as const;

/** Whether the ignore file lets a file of the packages be sent to the builder. */
function isSent(path: string): boolean {
  const parts = relative(repository, path).split(sep);
  const isBundle = parts.length === 3 && /^bundle(?:-|$)/.test(basename(path));
  return !["node_modules", "dist", "build", "test"].includes(basename(path)) && !isBundle;
}

function copiesFrom(copy: Instruction): string | undefined {
  const flags = (copy as Copy).getFlags();
  return flags.find((flag) => flag.getName() === "from")?.getValue() ?? undefined;
}
