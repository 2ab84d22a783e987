/** A session bus in words of one syllable: it lets callers in and says of the Secret Service what it is told to say. */

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { readBusMessage } from "../../src/files/secrets/secret-service.ts";

// What dbus-daemon 1.14 really sends: the answer to Hello and, unasked for, a signal; a Boolean; a number; an error.
const hello = Buffer.from(
  "6c02010109000000010000003d00000006017300040000003a312e33000000000501750001000000080167000173000007017300140000006f72672e667265656465736b746f702e4442757300000000040000003a312e3300" +
    "6c04010109000000020000008d00000001016f00150000002f6f72672f667265656465736b746f702f4442757300000002017300140000006f72672e667265656465736b746f702e4442757300000000030173000c0000004e616d6541637175697265640000000006017300040000003a312e3300000000080167000173000007017300140000006f72672e667265656465736b746f702e4442757300000000040000003a312e3300",
  "hex",
);
const answer = (serial: number, type: "62" | "75", value: number) =>
  Buffer.from(
    `6c02010104000000030000003d00000006017300040000003a312e3300000000050175000${serial}0000000801670001${type}000007017300140000006f72672e667265656465736b746f702e44427573000000000${value}000000`,
    "hex",
  );
export const serviceUnknown = Buffer.from(
  "6c0301014c000000030000007500000006017300040000003a312e340000000004017300290000006f72672e667265656465736b746f702e444275732e4572726f722e53657276696365556e6b6e6f776e000000000000000501750003000000080167000173000007017300140000006f72672e667265656465736b746f702e444275730000000047000000546865206e616d65206f72672e667265656465736b746f702e7365637265747320776173206e6f742070726f766964656420627920616e79202e736572766963652066696c657300",
  "hex",
);

export interface Bus {
  readonly auth?: string;
  readonly hasOwner?: Buffer;
  readonly start?: Buffer;
  /** How the bytes go out: all at once, unless told otherwise. */
  readonly send?: (socket: Socket, bytes: Buffer) => void;
}

/** A bus that understands as much as a real one needs to for this conversation, and answers as it is told. */
function serve(socket: Socket, { auth = "OK 60d5565efd4b2a56\r\n", hasOwner, start, send = writeAll }: Bus): void {
  let received = Buffer.alloc(0);
  let isBegun = false;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let end = received.indexOf("\r\n"); !isBegun && end !== -1; end = received.indexOf("\r\n")) {
      const line = received.subarray(0, end).toString();
      received = received.subarray(end + 2);
      if (line === "BEGIN") isBegun = true;
      else if (/^\0AUTH EXTERNAL [0-9a-f]+$/.test(line)) send(socket, Buffer.from(auth));
      else socket.destroy();
    }
    if (!isBegun) return;
    for (let call = readBusMessage(received); call !== undefined; call = readBusMessage(received)) {
      const text = received.subarray(0, call.length).toString("latin1");
      received = received.subarray(call.length);
      if (text.includes("Hello")) send(socket, hello);
      if (text.includes("NameHasOwner") && text.includes("org.freedesktop.secrets\0") && hasOwner)
        send(socket, hasOwner);
      if (text.includes("StartServiceByName") && start) send(socket, start);
    }
  });
}

function writeAll(socket: Socket, bytes: Buffer): void {
  socket.write(bytes);
}

export function writeBytes(socket: Socket, bytes: Buffer): void {
  for (const byte of bytes) socket.write(Buffer.from([byte]));
}

/** To NameHasOwner. */
export const yes: Buffer = answer(2, "62", 1);
export const no: Buffer = answer(2, "62", 0);
/** To StartServiceByName. */
export const started: Buffer = answer(3, "75", 1);

/** Listens on a socket; closed at the end of the scope. */
export async function sessionBus(path: string, bus: Bus): Promise<Disposable> {
  const server = createServer((socket) => serve(socket, bus)).listen(path);
  await once(server, "listening");
  return { [Symbol.dispose]: () => void server.close() };
}
