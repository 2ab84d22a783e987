import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { chromiumProgram, openChromium, until } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";
import { openDoor } from "../support/open-door.ts";
import { note } from "../support/scripted-source.ts";

const count = 3000;
const mostCuts = 20;

// Says that Chromium is absent.
if (chromiumProgram === undefined) await openChromium("events over cut connections");

/** The page's own code for the stream, as a script that defines `page.EventStream`. */
function streamScript(): string {
  const entry = fileURLToPath(new URL("../../src/page/stream.ts", import.meta.url));
  const options = { bundle: true, write: false, format: "iife", globalName: "page", target: "chrome111" } as const;
  return buildSync({ entryPoints: [entry], ...options }).outputFiles[0]?.text ?? "";
}

/** The connections of streams that are open now, to be cut. Node tells of each request that a server in this process gets. */
function openStreams() {
  const sockets = new Set<Socket>();
  let opened = 0;
  const onRequest = (message: unknown): void => {
    const { request, socket } = message as { readonly request: IncomingMessage; readonly socket: Socket };
    if (request.url !== "/api/events") return;
    opened += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  subscribe("http.server.request.start", onRequest);
  return {
    opened: () => opened,
    cut(): void {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.dispose]: () => void unsubscribe("http.server.request.start", onRequest),
  };
}

test.runIf(chromiumProgram !== undefined)(
  "the page loses 0 events and shows 0 twice over 20 cuts at 1 000 events a second",
  async () => {
    const browser = await openChromium("events over cut connections");
    await using door = await openDoor();
    using streams = openStreams();
    const page = await browser?.newPage();
    if (page === undefined) throw new Error("Chromium is absent");
    const { origin, hash } = new URL(door.address());
    await page.goto(`${origin}/`);
    await page.evaluate(`${streamScript()}
      globalThis.received = [];
      fetch("/api/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: ${JSON.stringify(hash.slice(3))}, path: "/" }),
      }).then((answer) => answer.json()).then(({ bearer }) => {
        const onEvent = (event, id) => { if (event.type === "note") received.push([id, event.text]); };
        new page.EventStream({ bearer, onEvent, onState() {} }).start();
      });`);
    const received = (): Promise<number> => page.evaluate("received.length");
    await until(() => streams.opened() > 0);
    let sent = 0;
    let cuts = 0;
    const sending = setInterval(() => {
      for (let at = 0; at < 10 && (sent < count || cuts < mostCuts); at += 1) {
        sent += 1;
        door.source.emit(note(`event ${sent}`));
      }
    }, 10);
    try {
      for (; cuts < mostCuts; cuts += 1) {
        const before = await received();
        await until(async () => (await received()) > before);
        const opened = streams.opened();
        streams.cut();
        // The page has noticed the cut, and has opened another stream.
        await until(() => streams.opened() > opened);
      }
      await until(() => sent >= count);
    } finally {
      clearInterval(sending);
    }
    await until(async () => (await received()) >= sent);
    const all = await page.evaluate("received");
    expect(all).toEqual(Array.from({ length: sent }, (_, at) => [at + 1, `event ${at + 1}`]));
    process.stderr.write(`events over cut connections: ${sent} events, ${cuts} cuts, 0 lost, 0 doubled\n`);
    await browser?.close();
  },
);
