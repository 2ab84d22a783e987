/** `fairlead console`: opens a page in the browser that shows and controls the servers of a workspace. */

import { createInterface } from "node:readline";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, refuseNested } from "@fairlead/core/trust";
import { errorMessage } from "@fairlead/wire/text";
import { openConsole, openInBrowser, type RedirectFile, redirectFile } from "../gateway/open-console.ts";
import { configurationOf } from "../shell/configuration.ts";
import { orPortError, toPort } from "../shell/http-server.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAloneOption } from "../targets/background.ts";

interface Options {
  readonly port?: string;
  readonly open: boolean;
}

export const verb: Verb = {
  isLasting: () => true,
  help: `
Opens a page in your browser: what waits for you, all servers with their state, every tool with a form, the messages
between Fairlead and its servers, and the history. The page shows the servers of the background host, as every MCP client
and command uses them.

The page works while this command runs. Ctrl-C closes it, and all its pages with it. Only the first browser window that opens the
address gets in; the address works once, within a minute. Enter prints another address.

Examples:
  fairlead console
  fairlead console --port 7300
  fairlead console --no-open       print the address; open it on this machine within a minute`,

  define(command) {
    command
      .option("--port <number>", "the port of the page; default: any free port")
      .option("--no-open", "print the page's address instead of opening a browser");
    defineAloneOption(command);
  },

  async run(context) {
    const { io, command } = context;
    refuseNested(io.env);
    const { port, open } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const wanted = toPort(port, context);
    const file = redirectFile(configuration);
    const show = open ? (address: string) => openPage(address, file, configuration, context) : printAddress(context);
    const stopped = new Promise<"stopped">((resolve) => {
      if (io.signal.aborted) resolve("stopped");
      else io.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    let opened = await orPortError(openConsole(wanted, configuration, context), port);
    const enter = onEnter(context, async () => context.out.exactly(toSafeLine(await opened.newAddress())));
    try {
      await show(opened.address);
      if (enter !== undefined) context.out.say(safe`Enter prints another address. Ctrl-C closes the console.`);
      while ((await Promise.race([stopped, opened.closed])) !== "stopped") {
        // The background host has ended, and with it what the open pages may do.
        const { port: same } = new URL(opened.address);
        context.out.warn(safe`note: the background host has ended; the console opens again in a new one`);
        opened = await openConsole(Number(same), configuration, context);
        await show(opened.address);
      }
    } finally {
      enter?.close();
      await file.remove();
      await opened.close();
    }
  },
};

function printAddress({ io, out, globals }: Context): (address: string) => Promise<void> {
  let isFirst = true;
  return async (address) => {
    if (!isFirst) out.exactly(toSafeLine(address));
    else if (globals.json) out.json({ address });
    else io.stdout.write(`${address}\n`);
    isFirst = false;
  };
}

async function openPage(
  address: string,
  file: RedirectFile,
  configuration: Configuration,
  { out }: Context,
): Promise<void> {
  const isOpen = await openInBrowser(address, file, configuration);
  const { root } = configuration.locations;
  if (isOpen) {
    out.say(safe`The console of ${toVisibleLine(root)} opens in your browser.`);
    return;
  }
  out.warn(safe`No browser could be started. Open this address on this machine within a minute:`);
  out.exactly(toSafeLine(address));
}

/** Calls `action` each time the person presses Enter. Undefined without a terminal. */
function onEnter({ io, out }: Context, action: () => Promise<void>): { readonly close: () => void } | undefined {
  if (io.stdin.isTTY !== true) return undefined;
  const reader = createInterface({ input: io.stdin, terminal: false });
  // The host may have ended a moment ago. The command then opens another console.
  const fail = (error: unknown): void => out.warn(safe`note: no new address: ${toSafeLine(errorMessage(error))}`);
  reader.on("line", () => void action().catch(fail));
  return reader;
}
