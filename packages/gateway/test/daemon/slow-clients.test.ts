import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { listenForRelays, type RelayListener, type RelayListenerOptions } from "../../src/daemon/listen.ts";
import { createRunFolder, runFolderOf } from "../../src/relay/run-folder.ts";
import { speechNumber } from "../../src/relay/speech.ts";
import { handClock } from "../hand-clock.ts";
import { callOf, initialize, relayClient, standInGateway } from "../relay/scene.ts";

interface Listening extends AsyncDisposable {
  readonly listener: RelayListener;
  readonly notes: string[];
  /** Opens the connection of a client that sends two calls. */
  client(): Socket;
}

/** A host whose calls have results of eight megabytes. */
async function listening(options: Partial<RelayListenerOptions> = {}): Promise<Listening> {
  const temporary = await temporaryFolder();
  const { path } = temporary;
  const folder = runFolderOf({ state: path, installation: "one", temporary: path, platform: process.platform });
  createRunFolder(folder);
  const notes: string[] = [];
  const listener = await listenForRelays({
    folder,
    token: "secret",
    version: "1",
    gateway: standInGateway(async () => ({ text: "x".repeat(8 * 1024 * 1024) })),
    workspaceOf: async () => ({ cwd: path, env: {} }),
    commandWorkspace: () => undefined,
    onStop() {},
    onRetire() {},
    note: (text) => notes.push(text),
    ...options,
  });
  const hello = { fairlead: speechNumber, token: "secret", version: "1", wants: "serve", client: relayClient };
  return {
    listener,
    notes,
    client() {
      const socket = connect(folder.socket).on("error", () => {});
      for (const each of [hello, initialize, callOf(1), callOf(2)]) socket.write(`${JSON.stringify(each)}\n`);
      return socket;
    },
    async [Symbol.asyncDispose]() {
      await listener.close();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

test("a client that reads nothing is disconnected, with the reason in the log", async () => {
  let disconnected = (): void => {};
  const noted = new Promise<void>((resolve) => {
    disconnected = resolve;
  });
  const notes: string[] = [];
  await using here = await listening({
    unreadTime: 50,
    note(text) {
      notes.push(text);
      disconnected();
    },
  });
  const silent = here.client().pause();
  await noted;
  expect(notes).toEqual(["the client test is disconnected: it has read nothing for 0.05 s"]);
  silent.destroy();
});

test("a host that ends does not wait for a client that reads nothing", async () => {
  const clock = handClock();
  await using here = await listening({ clock });
  const silent = here.client();
  // From the first bytes on, the client reads nothing.
  await once(silent, "data");
  silent.pause();
  const closing = here.listener.close();
  clock.pass(1000);
  await closing;
  silent.destroy();
});
