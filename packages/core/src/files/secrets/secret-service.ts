/**
 * Asks the D-Bus session bus whether a Secret Service exists, with a timeout. Not through the keyring library, which
 * connects synchronously: a bus that does not answer would block the whole process (docs/adr/0024).
 */

import { connect, type Socket } from "node:net";
import { type Clock, systemClock } from "../../clock.ts";
import { busCall, readBusMessage, textArgument, uint32 } from "./dbus-message.ts";

const timeLimit = 2_000;
const maxBytes = 64 * 1024;
const serials = { hello: 1, hasOwner: 2, start: 3 } as const;
const service = textArgument("org.freedesktop.secrets");

/** Whether a Secret Service runs or could be started; starts it if necessary. */
export async function hasSecretService(address: string | undefined, clock: Clock = systemClock): Promise<boolean> {
  const path = socketPath(address ?? "");
  if (path === undefined) return false;
  const socket = connect({ path });
  const callOff = clock.after(timeLimit, () => socket.destroy());
  try {
    return await ask(socket);
  } catch {
    return false; // No bus, or one that hung up or talks nonsense: for our purpose the same as none.
  } finally {
    callOff();
    socket.destroy();
  }
}

async function ask(socket: Socket): Promise<boolean> {
  let isWelcome = false;
  let received = Buffer.alloc(0);
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    if (received.length > maxBytes) return false;
    if (!isWelcome) {
      const end = received.indexOf("\r\n");
      if (end === -1) continue;
      if (!received.toString("latin1").startsWith("OK ")) return false;
      received = received.subarray(end + 2);
      isWelcome = true;
      socket.write("BEGIN\r\n");
      socket.write(busCall({ serial: serials.hello, member: "Hello" }));
      socket.write(busCall({ serial: serials.hasOwner, member: "NameHasOwner", signature: "s", body: service }));
    }
    for (let message = readBusMessage(received); message !== undefined; message = readBusMessage(received)) {
      received = received.subarray(message.length);
      if (message.replyTo === serials.start) return message.isReturn;
      if (message.replyTo !== serials.hasOwner) continue;
      if (message.isReturn && message.body.some((byte) => byte !== 0)) return true;
      const body = Buffer.concat([service, uint32(0)]);
      socket.write(busCall({ serial: serials.start, member: "StartServiceByName", signature: "su", body }));
    }
  }
  return false;
}

/** `unix:path=/run/user/1000/bus,guid=…;…`: of several addresses, the first that is a local socket. */
function socketPath(address: string): string | undefined {
  for (const candidate of address.split(";")) {
    const match = /^unix:(?:.*,)?(path|abstract)=([^,]+)/.exec(candidate);
    if (match?.[2] !== undefined) return `${match[1] === "abstract" ? "\0" : ""}${decoded(match[2])}`;
  }
  return undefined;
}

function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
