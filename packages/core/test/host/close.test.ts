import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { programServer, scaled, seed, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, HostError, ToolConfirmationOutcome } from "../../src/index.ts";

/** Every file below the folder, with what shows that it was written again. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    files.sort().map(async (file) => {
      const { size, mtimeNs, ino } = await stat(file, { bigint: true });
      return `${file} ${size} ${mtimeNs} ${ino}`;
    }),
  );
}

/** A generator of numbers below 1 that can be repeated. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Folder = Pick<TemporaryFolder, "path" | "write">;

function within({ path, write }: Folder, name: string): Folder {
  return { path: join(path, name), write: (file, content) => write(join(name, file), content) };
}

async function open(folder: Folder, withProgram: boolean): Promise<Host> {
  // Its own process: the host must have ended everything that writes.
  const program = programServer("counted", join(folder.path, "notes"));
  await folder.write("home/.gemini/settings.json", { mcpServers: withProgram ? { s: program } : {} });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  return createHost({ environment, trust: true, confirm: async () => ToolConfirmationOutcome.ProceedAlwaysAndSave });
}

type Work = (host: Host) => Promise<unknown>;

const onDemo: readonly Work[] = [
  (host) => host.call("demo", "greet", { name: "Ada" }),
  (host) => host.callAsModel("demo__greet", { name: "Ada" }),
  (host) => host.readResource("demo", "demo://about"),
  (host) => host.getPrompt("demo", "teach", { knot: "bowline" }),
  (host) => host.subscribe("demo", "demo://about"),
  (host) => host.start({ servers: ["demo"] }),
  (host) => host.reload(),
];
const onProgram: readonly Work[] = [
  (host) => host.start(),
  (host) => host.call("s", "echo", { text: "x" }),
  (host) => host.callAsModel("echo", { text: "x" }),
  (host) => host.restart(),
];

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

test(`a host that is closed at any moment writes nothing and runs nothing after that`, async () => {
  const start = seed();
  const random = randomFrom(start);
  const closed: { readonly folder: Folder; readonly files: readonly string[] }[] = [];
  await using all = await temporaryFolder();
  const hosts = scaled(500, 50);
  for (let at = 0; at < hosts; at += 1) {
    const folder = within(all, `host-${at}`);
    const withProgram = at % 10 === 0;
    const host = await open(folder, withProgram);
    const works = withProgram ? [...onProgram, ...onDemo] : onDemo;
    const running = Array.from({ length: 1 + Math.trunc(random() * 4) }, async () => {
      const work = works[Math.trunc(random() * works.length)];
      await work?.(host);
    });
    const ends = Promise.allSettled(running);
    await turns(Math.trunc(random() * (withProgram ? 60 : 12)));
    await host[Symbol.asyncDispose]();
    closed.push({ folder, files: await filesIn(folder.path) });
    for (const end of await ends) {
      if (end.status === "fulfilled") continue;
      // `usage`: it came when the host was closed already.
      expect(
        ["cancelled", "usage", "tool_unknown", "denied", "server_exited"],
        `seed ${start}, host ${at}: ${String(end.reason)}`,
      ).toContain(end.reason instanceof HostError ? end.reason.code : end.reason);
    }
  }
  // Later hosts have given the earlier ones time enough to write.
  for (const [at, { folder, files }] of closed.entries())
    expect(await filesIn(folder.path), `seed ${start}, host ${at}`).toEqual(files);
});

test("a closed host takes no more requests", async () => {
  await using folder = await temporaryFolder();
  const host = await open(folder, false);
  await host[Symbol.asyncDispose]();
  for (const work of onDemo)
    await expect(work(host)).rejects.toMatchObject({ code: expect.stringMatching("usage|tool_unknown") });
});

test("an answer that comes when the host is closed takes no effect", async () => {
  await using folder = await temporaryFolder();
  const host = await open(folder, true);
  await host.start();
  const details = await host.toolRegistry.find("s", "echo")?.shouldConfirmExecute({ text: "x" });
  await host[Symbol.asyncDispose]();
  const files = await filesIn(folder.path);
  if (!details) throw new Error("not asked");
  const answered = details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysAndSave);
  await expect(answered).rejects.toMatchObject({ code: "usage" });
  expect(await filesIn(folder.path)).toEqual(files);
});
