import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { scaled, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { tryLock } from "../../src/files/atomic/lock.ts";
import { createHost, type Host, type HostOptions, ToolConfirmationOutcome } from "../../src/index.ts";
import { updateApprovalsFile } from "../../src/trust/approvals.ts";
import { calls, plays, says } from "../support/turn-desk.ts";

const yesAndSave = ToolConfirmationOutcome.ProceedAlwaysAndSave;
const args = { name: "Ada" };

/** Called when the user is asked. Decides about the moment of the answer. */
type Asked = () => Promise<ToolConfirmationOutcome>;

interface Way {
  readonly name: string;
  /** Whether the host itself asks the user. Otherwise `call` does. */
  readonly isOfHost: boolean;
  readonly call: (host: Host, asked: Asked) => Promise<unknown>;
}

const model = () => plays(calls("demo__greet", args), says("ok"));
const ways: readonly Way[] = [
  { name: "callAsModel", isOfHost: true, call: (host) => host.callAsModel("demo__greet", args) },
  {
    name: "callAsModel with its own confirm",
    isOfHost: false,
    call: (host, confirm) => host.callAsModel("demo__greet", args, { confirm }),
  },
  {
    name: "asCallableTool",
    isOfHost: true,
    call: (host) => host.asCallableTool().callTool([{ name: "demo__greet", args }]),
  },
  {
    name: "runTurn",
    isOfHost: true,
    call: async (host) => {
      for await (const _ of host.runTurn("go", { model: model() }));
    },
  },
  {
    name: "runTurn with a confirmation event",
    isOfHost: false,
    call: async (host, asked) => {
      for await (const event of host.runTurn("go", { model: model() }))
        if (event.type === "confirmation") void asked().then((outcome) => event.details.onConfirm(outcome));
    },
  },
];

async function open(folder: TemporaryFolder, confirm: HostOptions["confirm"]): Promise<Host> {
  await folder.write("home/.gemini/settings.json", { mcpServers: {} });
  await folder.write("home/.fairlead/notes.txt", "");
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const host = await createHost({
    environment: { env, home, cwd: home, platform: process.platform },
    workspace: false,
    ...(confirm && { confirm }),
  });
  await host.start({ servers: ["demo"] });
  return host;
}

const stateOf = ({ path }: TemporaryFolder): string => join(path, "home/.fairlead");

/** The approvals file, and every other file with its modification time. Synchronous, so that nothing runs meanwhile. */
function written(folder: TemporaryFolder): { readonly approvals: string; readonly files: readonly string[] } {
  const names = readdirSync(stateOf(folder), { recursive: true, encoding: "utf8" }).sort();
  const files = names.map((name) => `${name} ${statSync(join(stateOf(folder), name), { bigint: true }).mtimeNs}`);
  const isThere = names.includes("approvals.json");
  return { approvals: isThere ? readFileSync(join(stateOf(folder), "approvals.json"), "utf8") : "", files };
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Calls the tool, and closes the host when `asked` calls `close`. Returns the files at the close and later. */
async function closeDuring(
  folder: TemporaryFolder,
  way: Way,
  asked: (close: () => Promise<void>) => Promise<ToolConfirmationOutcome>,
) {
  let atClose: ReturnType<typeof written> | undefined;
  let onClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  async function close(): Promise<void> {
    await host[Symbol.asyncDispose]();
    atClose = written(folder);
    onClosed();
  }
  const ask: Asked = () => asked(close);
  const host = await open(folder, way.isOfHost ? ask : undefined);
  const [end] = await Promise.allSettled([way.call(host, ask)]);
  await closed;
  await turns(3);
  await updateApprovalsFile(stateOf(folder), () => undefined);
  return { end, atClose, later: written(folder) };
}

test.each(ways)("$name: closing waits for an answer that is being saved", async (way) => {
  await using folder = await temporaryFolder();
  const order: string[] = [];
  const { atClose, later } = await closeDuring(folder, way, async (close) => {
    const lock = await tryLock(join(stateOf(folder), "approvals.json"));
    // The turns give the answer time to be taken, and the closing host time to end too early.
    void turns(2)
      .then(() => {
        void close().then(() => order.push("closed"));
        return turns(20);
      })
      .then(() => {
        order.push("released");
        return lock?.release();
      });
    return yesAndSave;
  });
  expect(order).toEqual(["released", "closed"]);
  expect(atClose?.approvals).toContain('"greet"');
  expect(later).toEqual(atClose);
});

test.each(ways)("$name: an answer that comes while the host is closed is not saved", async (way) => {
  await using folder = await temporaryFolder();
  const { end, atClose, later } = await closeDuring(folder, way, async (close) => {
    void close();
    return yesAndSave;
  });
  // A turn reports its end as an event.
  if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "cancelled" });
  else expect(way.name).toContain("runTurn");
  expect(atClose?.approvals).toBe("");
  expect(later).toEqual(atClose);
});

test("a host that is closed at any moment of a saved answer writes nothing after that", async () => {
  for (let moment = 0; moment < scaled(60, 12); moment += 1) {
    await using folder = await temporaryFolder();
    const way = ways[moment % ways.length] as Way;
    const { atClose, later } = await closeDuring(folder, way, async (close) => {
      void turns(moment).then(close);
      return yesAndSave;
    });
    expect(later, `closed ${moment} turns after the answer to ${way.name}`).toEqual(atClose);
  }
});
