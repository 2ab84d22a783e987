/**
 * A host that is about to be killed: opens some servers, says which processes there are, and stays.
 * Arguments: how far it gets ("starting", "ready", "mixed", "stopping", "exiting"), the server's command and its
 * arguments. With "mixed", only the second server gets the arguments after the first one, and the third server is closed.
 */

import { createProcessRegistry } from "../../src/stdio/process-registry.ts";
import { openStdio } from "../../src/stdio/stdio.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";

const [how, command = "", ...args] = process.argv.slice(2);
const keeper = createProcessRegistry({ termGrace: 300 });
const env = { PATH: process.env["SERVER_PATH"] ?? process.env["PATH"] ?? "", MARK: process.env["MARK"] ?? "" };
const say = (what: string) => process.stdout.write(`${what}\n`);

const servers = Array.from({ length: 3 }, async (_, at) => {
  let tell: () => void = () => undefined;
  const family = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const open = openStdio(
    { kind: "stdio", command, args: how === "mixed" && at !== 1 ? args.slice(0, 1) : args, env, cwd: "/" },
    { limits: defaultLimits, times: { ...defaultTimes, endGrace: 60_000, killGrace: 60_000 }, processes: keeper },
  );
  const channel = await open(
    {
      message(message) {
        say(JSON.stringify(message));
        tell();
        return undefined;
      },
      largest: () => defaultLimits.messageBytes,
      dropped: () => undefined,
      closed: () => undefined,
      diagnostic: () => undefined,
    },
    new AbortController().signal,
  );
  if (how !== "starting") await family;
  return channel;
});
const channels = await Promise.all(servers);
if (how === "stopping") for (const channel of channels) void channel.close();
if (how === "mixed") await channels[2]?.close();
process.on("SIGUSR2", () => say("here"));
say("now");
// Without a word to its servers: the watchdog has to notice this, too.
if (how === "exiting") setImmediate(() => process.exit(0));
